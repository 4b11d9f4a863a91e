#!/usr/bin/env python3
"""Trains sgd's models for digits with PyTorch from the same first weights and data order, and compares the losses.

    compare-torch.py digits.npz out/digits/steps.csv [--steps 100] [--model cnn]

steps.csv comes from inputs/sgd/digits.toml, or for cnn from inputs/sgd/digits-cnn.toml; where PyTorch's host has no h5py,
scripts/make-digits.py --out digits.npz writes the same samples for it. Computes on the CPU, in fp32. Exit code 3 where a
loss differs by more than 1e-5 of its value. Needs the PyPI packages torch and numpy: scripts/deps.sh --torch prints a
Python that has them.
"""
import sys

import sgd_reference as reference

try:
    import torch
except ImportError:
    sys.exit(f"compare-torch.py: error: {sys.executable} has no torch")


class Images(torch.nn.Module):
    """Features as images with one channel."""

    def forward(self, features):
        return features.reshape(-1, 1, reference.SIDE, reference.SIDE)


class ByPixel(torch.nn.Module):
    """Images as rows of features, a pixel's channels next to each other, as sgd has them."""

    def forward(self, images):
        return images.permute(0, 2, 3, 1).flatten(1)


def make_network(model, width, classes):
    channels, hidden = reference.MODELS[model]
    layers = [Images()] if channels else []
    for inputs, outputs in zip([1, *channels], channels):
        layers += [torch.nn.Conv2d(inputs, outputs, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2)]
    if channels:
        width = channels[-1] * (reference.SIDE >> len(channels)) ** 2
        layers.append(ByPixel())
    for inputs, outputs in zip([width, *hidden], [*hidden, classes]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def set_weights(network, tensors):
    with torch.no_grad():
        for parameter, tensor in zip(network.parameters(), tensors, strict=True):
            values = torch.from_numpy(tensor)
            if parameter.dim() == 4:
                # sgd has the channels of a pixel next to each other.
                outputs, inputs = parameter.shape[:2]
                values = values.reshape(outputs, 3, 3, inputs).permute(0, 3, 1, 2)
            parameter.copy_(values)


def train(model, features, labels, classes, steps):
    network = make_network(model, features.shape[1], classes)
    set_weights(network, reference.first_weights(model, features.shape[1], classes))
    optimizer = torch.optim.SGD(network.parameters(), lr=reference.RATE, momentum=reference.MOMENTUM)
    loss_of = torch.nn.CrossEntropyLoss()
    features = torch.from_numpy(features)
    labels = torch.from_numpy(labels).long()
    for chosen, rate in reference.batches(len(labels), steps):
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        loss = loss_of(network(features[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    reference.compare("PyTorch", train)
