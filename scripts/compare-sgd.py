#!/usr/bin/env python3
"""Trains sgd's perceptron for digits in NumPy from the same first weights and data order, and compares the losses.

    compare-sgd.py digits.h5 out/digits/steps.csv [--steps 100]

steps.csv comes from inputs/sgd/digits.toml. Exit code 1 where a loss differs by more than 1e-5 of its value.
Needs the PyPI packages numpy and h5py: scripts/deps.sh --digits prints a Python that has them.
"""
import argparse
import csv
import math
import sys

import h5py
import numpy

LOW_64_BITS = (1 << 64) - 1
SEED, HIDDEN, BATCH, EPOCHS = 1, 128, 64, 60
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


def first_weights(width, classes):
    shapes = [((HIDDEN, width), width), ((HIDDEN,), width), ((classes, HIDDEN), HIDDEN), ((classes,), HIDDEN)]
    tensors = []
    for number, (shape, inputs) in enumerate(shapes):
        random = Random(SEED, LOW_64_BITS ^ number)
        bound = numpy.float32(1) / numpy.sqrt(numpy.float32(inputs))
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


def loss_and_gradients(weights, features, labels):
    w1, b1, w2, b2 = weights
    hidden = numpy.maximum(features @ w1.T + b1, 0)
    logits = hidden @ w2.T + b2
    logits -= logits.max(axis=1, keepdims=True)
    powers = numpy.exp(logits)
    sums = powers.sum(axis=1, keepdims=True)
    rows = numpy.arange(len(labels))
    loss = (numpy.log(sums[:, 0]) - logits[rows, labels]).mean(dtype=numpy.float64)
    error = powers / sums
    error[rows, labels] -= 1
    error /= numpy.float32(len(labels))
    hidden_error = (error @ w2) * (hidden > 0)
    return loss, [hidden_error.T @ features, hidden_error.sum(axis=0), error.T @ hidden, error.sum(axis=0)]


def train(features, labels, classes, steps):
    weights = first_weights(features.shape[1], classes)
    velocities = [numpy.zeros_like(weight) for weight in weights]
    steps_per_epoch = len(labels) // BATCH
    for step in range(steps):
        epoch, batch = divmod(step, steps_per_epoch)
        if batch == 0:
            order = order_of_epoch(len(labels), epoch)
        chosen = order[batch * BATCH : (batch + 1) * BATCH]
        loss, gradients = loss_and_gradients(weights, features[chosen], labels[chosen])
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
    arguments = parser.parse_args()
    with open(arguments.steps_csv, encoding="utf-8") as table:
        found = [float(row["loss"]) for row in csv.DictReader(table)][: arguments.steps]
    if len(found) < arguments.steps:
        sys.exit(f"compare-sgd.py: {arguments.steps_csv} has {len(found)} steps, not {arguments.steps}")
    with h5py.File(arguments.data) as file:
        data = file["train_features"][:], file["train_labels"][:], int(file.attrs["classes"])
    wanted = train(*data, arguments.steps)
    worst = max(abs(loss / reference - 1) for loss, reference in zip(found, wanted))
    print(f"{arguments.steps} losses differ from NumPy's by at most {worst:.2g} of their value")
    sys.exit(0 if worst <= TOLERANCE else 1)


if __name__ == "__main__":
    main()
