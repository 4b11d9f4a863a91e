#!/usr/bin/env python3
"""Writes scikit-learn's handwritten digits as the data set that sgd reads.

    make-digits.py [--out digits.h5] [--test 360] [--seed 0]
    make-digits.py --out digits.npz        # the same for tests/compare/compare-torch.py on a host without h5py

1797 images of 8 x 8 pixels, divided by 16, in an order drawn by the seed: the last 360 are test samples. The file has the
attribute classes and the arrays train_features, test_features (samples x 64, fp32), train_labels, test_labels (int32).

Needs the PyPI packages scikit-learn and h5py; scripts/deps.sh --digits installs them and prints the Python to call this
with. The images come with the package.
"""
import argparse
import os
import sys

try:
    import h5py
    import numpy
    from sklearn.datasets import load_digits
except ImportError as error:
    sys.exit(f"make-digits.py: {error}: see scripts/deps.sh --digits")


def write(path, arrays):
    partial = path + ".partial"
    if path.endswith(".npz"):
        with open(partial, "wb") as file:
            numpy.savez(file, classes=numpy.int64(10), **arrays)
    else:
        with h5py.File(partial, "w") as file:
            file.attrs["classes"] = numpy.int64(10)
            for name, values in arrays.items():
                file[name] = values
    os.replace(partial, path)


def main():
    parser = argparse.ArgumentParser(description="Writes scikit-learn's digits for sgd.")
    parser.add_argument("--out", default="digits.h5")
    parser.add_argument("--test", type=int, default=360, help="samples to keep for the test")
    parser.add_argument("--seed", type=int, default=0, help="of the order")
    arguments = parser.parse_args()

    digits = load_digits()
    features = (digits.data / 16).astype(numpy.float32)
    labels = digits.target.astype(numpy.int32)
    if not 0 < arguments.test < len(labels):
        sys.exit(f"make-digits.py: --test must be 1 to {len(labels) - 1}, but is {arguments.test}")
    order = numpy.random.default_rng(arguments.seed).permutation(len(labels))
    train, test = order[: -arguments.test], order[-arguments.test :]

    arrays = {}
    for part, rows in (("train", train), ("test", test)):
        arrays[part + "_features"] = features[rows]
        arrays[part + "_labels"] = labels[rows]
    write(arguments.out, arrays)


if __name__ == "__main__":
    main()
