#!/usr/bin/env python3
"""Writes scikit-learn's handwritten digits as the data set that sgd reads.

    make-digits.py [--out digits.h5] [--test 360] [--seed 0]

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

    partial = arguments.out + ".partial"
    with h5py.File(partial, "w") as file:
        file.attrs["classes"] = numpy.int64(10)
        for part, rows in (("train", train), ("test", test)):
            file[part + "_features"] = features[rows]
            file[part + "_labels"] = labels[rows]
    os.replace(partial, arguments.out)


if __name__ == "__main__":
    main()
