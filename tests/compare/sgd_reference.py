"""What sgd's inputs for digits make a training, for scripts that repeat it with other libraries: its models, first weights,
order of samples and learning rate, each from its definition, and the losses that sgd wrote.
"""
import argparse
import csv
import math
import sys

try:
    import numpy
except ImportError:
    sys.exit(f"{sys.argv[0]}: error: {sys.executable} has no numpy")

LOW_64_BITS = (1 << 64) - 1
SEED, BATCH, EPOCHS = 1, 64, 60
SIDE = 8  # of an image, in pixels
# Channels of convolutions, and widths of hidden dense layers.
MODELS = {"mlp": ([], [128]), "cnn": ([8, 16], [32])}
RATE, MOMENTUM = 0.1, 0.9
TOLERANCE = 1e-5


class Random:
    """apps/sgd/model/random.hpp"""

    def __init__(self, seed, stream):
        self.state = seed
        self.state = self.next() ^ stream

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & LOW_64_BITS
        z = self.state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & LOW_64_BITS
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & LOW_64_BITS
        return z ^ z >> 31

    def uniform(self):
        return numpy.float32((self.next() >> 40) * 2.0**-24)


def first_weights(model, width, classes):
    channels, hidden = MODELS[model]
    shapes = []
    inputs = 1 if channels else width
    for outputs in channels:
        shapes += [((outputs, 9 * inputs), 9 * inputs), ((outputs,), 9 * inputs)]
        inputs = outputs
    if channels:
        inputs *= (SIDE >> len(channels)) ** 2
    for outputs in [*hidden, classes]:
        shapes += [((outputs, inputs), inputs), ((outputs,), inputs)]
        inputs = outputs
    tensors = []
    for number, (shape, fan_in) in enumerate(shapes):
        random = Random(SEED, LOW_64_BITS ^ number)
        bound = numpy.float32(1) / numpy.sqrt(numpy.float32(fan_in))
        values = [bound * (2 * random.uniform() - 1) for _ in range(math.prod(shape))]
        tensors.append(numpy.array(values, numpy.float32).reshape(shape))
    return tensors


def order_of_epoch(samples, epoch):
    order = list(range(samples))
    random = Random(SEED, epoch)
    for left in range(samples, 1, -1):
        other = random.next() % left
        order[left - 1], order[other] = order[other], order[left - 1]
    return order


def batches(samples, steps):
    """Of each step: the samples of its batch, and its learning rate."""
    steps_per_epoch = samples // BATCH
    for step in range(steps):
        epoch, batch = divmod(step, steps_per_epoch)
        if batch == 0:
            order = order_of_epoch(samples, epoch)
        rate = RATE * 0.5 * (1 + math.cos(math.pi * step / (EPOCHS * steps_per_epoch)))
        yield order[batch * BATCH : (batch + 1) * BATCH], rate


def read_data(path):
    """Features and labels to train with, and the number of classes."""
    if path.endswith(".npz"):
        file = numpy.load(path)
        return file["train_features"], file["train_labels"], int(file["classes"])
    import h5py

    with h5py.File(path) as file:
        return file["train_features"][:], file["train_labels"][:], int(file.attrs["classes"])


def read_losses(path, steps):
    with open(path, encoding="utf-8") as table:
        losses = [float(row["loss"]) for row in csv.DictReader(table)][:steps]
    if len(losses) < steps:
        sys.exit(f"{path} has {len(losses)} steps, not {steps}")
    return losses


def compare(library, train):
    """Reads the command line, trains, and ends the program. train(model, features, labels, classes, steps) gives losses."""
    parser = argparse.ArgumentParser(description=f"Compares sgd's losses with those of {library}.")
    parser.add_argument("data", help="digits.h5, or digits.npz where there is no h5py: as scripts/make-digits.py writes")
    parser.add_argument("steps_csv")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--model", choices=MODELS, default="mlp")
    arguments = parser.parse_args()
    found = read_losses(arguments.steps_csv, arguments.steps)
    wanted = train(arguments.model, *read_data(arguments.data), arguments.steps)
    worst = max(abs(loss / reference - 1) for loss, reference in zip(found, wanted))
    print(f"{arguments.steps} losses differ from those of {library} by at most {worst:.2g} of their value")
    sys.exit(0 if worst <= TOLERANCE else 3)
