#!/usr/bin/env python3
"""Times steps of data-parallel training by PyTorch's DistributedDataParallel over NCCL, for bench_sgd's models.

scripts/bench_torch_ddp.py --gpus 4 --records FILE.json writes records with the names of bench_sgd's: as many samples for
each GPU, fp32 without TF32, momentum SGD, made-up samples that lie on the GPU. One process per GPU. Each model trains
eagerly and as a CUDA graph of a step, in turns. Before it is timed, the loss must fall, and before and after all ranks
must have the same parameters.
"""

import argparse
import functools
import json
import pathlib

# First: it sets what torch and NCCL look at when they are loaded.
import torch_ranks
import torch
import torch.distributed as dist

ROUNDS = 11
BATCH_SECONDS = 10e-3
LEARNING_STEPS = 10


def perceptron(widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def convolutions():
    def block(inputs, outputs):
        return [torch.nn.Conv2d(inputs, outputs, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2)]

    return torch.nn.Sequential(*block(1, 32), *block(32, 64), torch.nn.Flatten(), torch.nn.Linear(3136, 128),
                               torch.nn.ReLU(), torch.nn.Linear(128, 10))


# Name: (how it is made, features of a sample, classes, samples per GPU, batches of made-up samples, learning rate).
MODELS = {
    "mlp-64-128-10": (lambda: perceptron([64, 128, 10]), (64,), 10, 64, 256, 0.1),
    "mlp-4096x8": (lambda: perceptron([4096] * 9), (4096,), 4096, 1024, 4, 0.01),
    "cnn-28x28": (convolutions, (1, 28, 28), 10, 256, 16, 0.01),
}

SYNTHETIC = "synthetic-resnet50"


def made_up_samples(shape, classes, count, rank):
    """As bench_sgd's: a label is which of a sample's first ten features is the largest."""
    generator = torch.Generator(device="cuda").manual_seed(rank + 1)
    features = 2 * torch.rand((count, *shape), device="cuda", generator=generator) - 1
    return features, features.flatten(1)[:, :min(10, classes)].argmax(dim=1)


class Training:
    """A model, and how it is trained: eagerly, or as a graph of a step."""

    def __init__(self, name, control, in_graph):
        make, shape, classes, self.batch, batches, rate = MODELS[name]
        self.name, self.control = name, control
        torch.manual_seed(1)
        self.model = make().cuda()
        # As PyTorch asks for where steps are captured: made, and run for the first times, on a stream of their own.
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            if dist.get_world_size() > 1:
                self.model = torch.nn.parallel.DistributedDataParallel(self.model, gradient_as_bucket_view=True)
            self.features, self.labels = made_up_samples(shape, classes, self.batch * batches, dist.get_rank())
            # A graph can't count on the host: the samples of the next step.
            self.rows = torch.arange(self.batch, device="cuda")
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=rate, momentum=0.9)
            self.cross_entropy = torch.nn.CrossEntropyLoss()
            for _ in range(LEARNING_STEPS + 2):
                self.enqueue_step()
        torch.cuda.synchronize()
        self.step = torch_ranks.captured(self.enqueue_step) if in_graph else self.enqueue_step
        self.has_learned = False

    def enqueue_step(self):
        features, labels = self.features.index_select(0, self.rows), self.labels.index_select(0, self.rows)
        self.rows.add_(self.batch).remainder_(len(self.labels))
        # PyTorch's default; bench_sgd overwrites gradients too.
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.cross_entropy(self.model(features), labels)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def check(self):
        """Learning is seen at the start; later the same parameters."""
        if not self.has_learned:
            self.require_learning()
        self.has_learned = True
        for _ in range(LEARNING_STEPS):
            self.step()
        parameters = sum(parameter.double().sum() for parameter in self.model.parameters()).item()
        least = torch_ranks.everywhere(parameters, dist.ReduceOp.MIN, self.control)
        if least != torch_ranks.everywhere(parameters, dist.ReduceOp.MAX, self.control):
            raise RuntimeError(f"{self.name}: ranks end with different parameters")

    def require_learning(self):
        # A graph leaves its loss in the same place each time.
        losses = [self.step().item() for _ in range(6 * LEARNING_STEPS)]
        first, last = sum(losses[:LEARNING_STEPS]), sum(losses[-LEARNING_STEPS:])
        if not last < first:
            raise RuntimeError(f"{self.name}: the loss goes from {first / LEARNING_STEPS} to {last / LEARNING_STEPS}")


class Synthetic:
    """All buckets that DDP would make of ResNet-50's gradients, added up by NCCL without any arithmetic beside it."""

    def __init__(self):
        # The last tensors of a model become ready first; DDP's own cut: a bucket of 1 MB, then of 25 MB.
        tensors = [torch.empty(count, device="cuda") for count in reversed(resnet50_counts())]
        self.buckets = []
        assignment = dist._compute_bucket_assignment_by_size(tensors, [1 << 20, 25 << 20])[0]
        for indices in assignment:
            self.buckets.append(torch.zeros(sum(tensors[i].numel() for i in indices), device="cuda"))

    def exchange(self):
        handles = [dist.all_reduce(bucket, async_op=True) for bucket in self.buckets]
        for handle in handles:
            handle.wait()

    def verify(self, exchange, control):
        for bucket in self.buckets:
            bucket.copy_(torch_ranks.known_values(bucket.numel()) * (dist.get_rank() + 1))
        exchange()
        wrong = sum(int((bucket != torch_ranks.known_sums(bucket.numel())).sum()) for bucket in self.buckets)
        if torch_ranks.everywhere(wrong, dist.ReduceOp.SUM, control) > 0:
            raise RuntimeError("synthetic-resnet50: wrong sums")
        # Sums of zeros stay zeros, however many follow each other.
        for bucket in self.buckets:
            bucket.zero_()


def resnet50_counts():
    """Elements of the 161 tensors, in the order of the model."""
    counts = []

    def convolution(inputs, outputs, side):
        counts.extend([inputs * outputs * side * side, outputs, outputs])

    convolution(3, 64, 7)
    inputs, width = 64, 64
    for blocks in (3, 4, 6, 3):
        for block in range(blocks):
            convolution(inputs, width, 1)
            convolution(width, width, 3)
            convolution(width, 4 * width, 1)
            if block == 0:
                convolution(inputs, 4 * width, 1)
            inputs = 4 * width
        width *= 2
    return counts + [1000 * inputs, 1000]


def measure(name, control):
    gpus = dist.get_world_size()
    ways = {"eager": Training(name, control, in_graph=False), "in a graph": Training(name, control, in_graph=True)}
    contenders = {way: torch_ranks.Contender(training.step, training.check) for way, training in ways.items()}
    record = torch_ranks.figure(f"sgd/{name}/{gpus}gpu", contenders, control, ROUNDS, BATCH_SECONDS)
    record["peers"]["samples/s"] = ways["eager"].batch * gpus / record["value"] * 1e6
    return {**record, "choice": "torch DDP" if gpus > 1 else "torch"}


def measure_synthetic(control):
    model = Synthetic()
    # NCCL captures what has run before.
    model.verify(model.exchange, control)
    ways = {"eager": model.exchange, "in a graph": torch_ranks.captured(model.exchange)}
    contenders = {way: torch_ranks.Contender(exchange, functools.partial(model.verify, exchange, control))
                  for way, exchange in ways.items()}
    record = torch_ranks.figure(f"sgd/{SYNTHETIC}/{dist.get_world_size()}gpu", contenders, control, ROUNDS, BATCH_SECONDS)
    return {**record, "choice": f"torch DDP's {len(model.buckets)} buckets by NCCL"}


def run_rank(rank, gpus, rendezvous, path, models):
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    with torch_ranks.joined(rank, gpus, rendezvous) as control:
        records = []
        for name in models:
            if name == SYNTHETIC and gpus == 1:
                continue
            records.append(measure_synthetic(control) if name == SYNTHETIC else measure(name, control))
            # A later model that fails takes nothing along.
            if rank == 0:
                path.write_text(json.dumps(records, indent=2) + "\n")
                print(f"{records[-1]['name']}: {records[-1]['value']:.4g} us, {records[-1]['peers']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, default=torch.cuda.device_count(), help="how many of this host's (all)")
    parser.add_argument("--models", nargs="+", choices=[*MODELS, SYNTHETIC], default=[*MODELS, SYNTHETIC])
    parser.add_argument("--records", type=pathlib.Path, required=True, metavar="FILE.json")
    arguments = parser.parse_args()
    torch_ranks.require_gpus(parser, arguments.gpus, 1)
    torch_ranks.spawn(run_rank, arguments.gpus, arguments.records, arguments.models)


if __name__ == "__main__":
    main()
