#!/usr/bin/env python3
"""Trains sgd's models for digits in NumPy from the same first weights and data order, and compares the losses.

    compare-sgd.py digits.h5 out/digits/steps.csv [--steps 100] [--model cnn]

steps.csv comes from inputs/sgd/digits.toml, or for cnn from inputs/sgd/digits-cnn.toml. Exit code 1 where a loss differs by more than 1e-5 of its value.
Needs the PyPI packages numpy and h5py: scripts/deps.sh --digits prints a Python that has them.
"""
import argparse
import csv
import math
import sys

import h5py
import numpy

LOW_64_BITS = (1 << 64) - 1
SEED, BATCH, EPOCHS = 1, 64, 60
SIDE = 8  # of an image, in pixels
# Channels of convolutions, and widths of hidden dense layers.
MODELS = {"mlp": ([], [128]), "cnn": ([8, 16], [32])}
RATE, MOMENTUM = 0.1, numpy.float32(0.9)
TOLERANCE = 1e-5


class Random:
    """apps/sgd/random.hpp"""

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


def patches(images):
    """Of each pixel, the nine around it: samples x height x width x 9 channels."""
    padded = numpy.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    height, width = images.shape[1:3]
    return numpy.concatenate([padded[:, y : y + height, x : x + width] for y in range(3) for x in range(3)], axis=3)


def spread(gradients, channels):
    """The way back through patches()."""
    count, height, width, _ = gradients.shape
    padded = numpy.zeros((count, height + 2, width + 2, channels), numpy.float32)
    for k in range(9):
        padded[:, k // 3 : k // 3 + height, k % 3 : k % 3 + width] += gradients[..., k * channels : (k + 1) * channels]
    return padded[:, 1:-1, 1:-1]


class Convolution:
    """3 x 3 pixels, ReLU, the largest of 2 x 2."""

    def forward(self, images, weight, bias):
        self.channels = images.shape[3]
        self.patches = patches(images)
        count, height, width, _ = images.shape
        planes = self.patches @ weight.T
        windows = planes.reshape(count, height // 2, 2, width // 2, 2, -1).transpose(0, 1, 3, 5, 2, 4)
        self.windows = windows.reshape(*windows.shape[:4], 4)
        self.output = numpy.maximum(self.windows.max(axis=4) + bias, 0)
        return self.output

    def backward(self, error, weight):
        error = error.reshape(self.output.shape) * (self.output > 0)
        best = self.windows.argmax(axis=4)[..., None] == numpy.arange(4)
        windows = (best * error[..., None]).reshape(*error.shape, 2, 2)
        count, height, width = self.patches.shape[:3]
        planes = windows.transpose(0, 1, 4, 2, 5, 3).reshape(count, height, width, -1)
        flat = planes.reshape(-1, planes.shape[3])
        gradients = [flat.T @ self.patches.reshape(len(flat), -1), flat.sum(axis=0)]
        return gradients, spread(planes @ weight, self.channels)


class Dense:
    def __init__(self, rectifies):
        self.rectifies = rectifies

    def forward(self, features, weight, bias):
        self.features = features.reshape(len(features), -1)
        self.output = self.features @ weight.T + bias
        if self.rectifies:
            self.output = numpy.maximum(self.output, 0)
        return self.output

    def backward(self, error, weight):
        if self.rectifies:
            error = error * (self.output > 0)
        return [error.T @ self.features, error.sum(axis=0)], error @ weight


def make_layers(model):
    channels, hidden = MODELS[model]
    return [Convolution() for _ in channels] + [Dense(True) for _ in hidden] + [Dense(False)]


def loss_and_gradients(layers, weights, features, labels):
    values = features.reshape(-1, SIDE, SIDE, 1) if isinstance(layers[0], Convolution) else features
    for layer, weight, bias in zip(layers, weights[::2], weights[1::2]):
        values = layer.forward(values, weight, bias)
    logits = values - values.max(axis=1, keepdims=True)
    powers = numpy.exp(logits)
    sums = powers.sum(axis=1, keepdims=True)
    rows = numpy.arange(len(labels))
    loss = (numpy.log(sums[:, 0]) - logits[rows, labels]).mean(dtype=numpy.float64)
    error = powers / sums
    error[rows, labels] -= 1
    error /= numpy.float32(len(labels))
    gradients = []
    for layer, weight in zip(reversed(layers), reversed(weights[::2])):
        own, error = layer.backward(error, weight)
        gradients = own + gradients
    return loss, gradients


def train(model, features, labels, classes, steps):
    layers = make_layers(model)
    weights = first_weights(model, features.shape[1], classes)
    velocities = [numpy.zeros_like(weight) for weight in weights]
    steps_per_epoch = len(labels) // BATCH
    for step in range(steps):
        epoch, batch = divmod(step, steps_per_epoch)
        if batch == 0:
            order = order_of_epoch(len(labels), epoch)
        chosen = order[batch * BATCH : (batch + 1) * BATCH]
        loss, gradients = loss_and_gradients(layers, weights, features[chosen], labels[chosen])
        yield loss
        rate = numpy.float32(RATE * 0.5 * (1 + math.cos(math.pi * step / (EPOCHS * steps_per_epoch))))
        for weight, velocity, gradient in zip(weights, velocities, gradients):
            velocity *= MOMENTUM
            velocity += gradient
            weight -= rate * velocity


def main():
    parser = argparse.ArgumentParser(description="Compares sgd's losses with NumPy's.")
    parser.add_argument("data")
    parser.add_argument("steps_csv")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--model", choices=MODELS, default="mlp")
    arguments = parser.parse_args()
    with open(arguments.steps_csv, encoding="utf-8") as table:
        found = [float(row["loss"]) for row in csv.DictReader(table)][: arguments.steps]
    if len(found) < arguments.steps:
        sys.exit(f"compare-sgd.py: {arguments.steps_csv} has {len(found)} steps, not {arguments.steps}")
    with h5py.File(arguments.data) as file:
        data = file["train_features"][:], file["train_labels"][:], int(file.attrs["classes"])
    wanted = train(arguments.model, *data, arguments.steps)
    worst = max(abs(loss / reference - 1) for loss, reference in zip(found, wanted))
    print(f"{arguments.steps} losses differ from NumPy's by at most {worst:.2g} of their value")
    sys.exit(0 if worst <= TOLERANCE else 1)


if __name__ == "__main__":
    main()
