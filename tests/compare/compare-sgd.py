#!/usr/bin/env python3
"""Trains sgd's models for digits in NumPy from the same first weights and data order, and compares the losses.

    compare-sgd.py digits.h5 out/digits/steps.csv [--steps 100] [--model cnn]

steps.csv comes from inputs/sgd/digits.toml, or for cnn from inputs/sgd/digits-cnn.toml. Exit code 3 where a loss differs by
more than 1e-5 of its value. Needs the PyPI packages numpy and h5py: scripts/deps.sh --digits prints a Python that has them.
"""
import numpy
import sgd_reference as reference


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
    channels, hidden = reference.MODELS[model]
    return [Convolution() for _ in channels] + [Dense(True) for _ in hidden] + [Dense(False)]


def loss_and_gradients(layers, weights, features, labels):
    values = features.reshape(-1, reference.SIDE, reference.SIDE, 1) if isinstance(layers[0], Convolution) else features
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
    weights = reference.first_weights(model, features.shape[1], classes)
    velocities = [numpy.zeros_like(weight) for weight in weights]
    for chosen, rate in reference.batches(len(labels), steps):
        loss, gradients = loss_and_gradients(layers, weights, features[chosen], labels[chosen])
        yield loss
        for weight, velocity, gradient in zip(weights, velocities, gradients):
            velocity *= numpy.float32(reference.MOMENTUM)
            velocity += gradient
            weight -= numpy.float32(rate) * velocity


if __name__ == "__main__":
    reference.compare("NumPy", train)
