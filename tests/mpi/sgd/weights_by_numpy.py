"""Reads and writes files of sgd's weights without sgd, from what its README says of them.

weights_by_numpy.py recognise DATA OUT          computes the loss of OUT/weights.h5 for the test samples, and compares OUT/run.json's
weights_by_numpy.py CHANGE WEIGHTS NEW_WEIGHTS  writes them anew: as they are (copy), or with something wrong in them
weights_by_numpy.py edit WEIGHTS NEW_WEIGHTS    copies the file, and changes a value in place
"""

import json
import math
import shutil
import sys

import h5py
import numpy as np


def convolved(images, weight, bias):
    """3 x 3 pixels around each, ReLU, the largest of 2 x 2."""
    count, height, width, _ = images.shape
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    pixels = [padded[:, y : y + height, x : x + width] for y in range(3) for x in range(3)]
    planes = np.maximum(np.concatenate(pixels, axis=3) @ weight + bias, 0)[:, : height // 2 * 2, : width // 2 * 2]
    return planes.reshape(count, height // 2, 2, width // 2, 2, -1).max(axis=(2, 4))


def outputs(weights, values, image):
    if "conv1.weight" in weights:
        values = values.reshape(len(values), *image, -1)
    names = [name.removesuffix(".weight") for name in weights if name.endswith(".weight")]
    for name in sorted(names):
        weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        if name.startswith("conv"):
            values = convolved(values, weight, bias)
        else:
            values = values.reshape(len(values), -1) @ weight + bias
            if name != max(names):
                values = np.maximum(values, 0)
    return values


def read(path):
    with h5py.File(path) as file:
        return {name: file[name][:] for name in file}


def recognise(data, out):
    with open(f"{out}/run.json", encoding="utf-8") as text:
        run = json.load(text)
    with h5py.File(data) as file:
        features, labels = file["test_features"][:].astype(np.float64), file["test_labels"][:]
    logits = outputs(read(f"{out}/weights.h5"), features, run["input"]["model"].get("image", []))
    loss = np.mean(np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(labels)), labels])
    accuracy = np.mean(logits.argmax(axis=1) == labels)
    found = run["results"]
    if not math.isclose(loss, found["test_loss"], rel_tol=1e-5) or accuracy != found["test_accuracy"]:
        sys.exit(f"{loss}, {accuracy} by NumPy, and {found['test_loss']}, {found['test_accuracy']} by sgd")


def changed(change, weights):
    last = "dense2.weight"
    if change == "without":
        del weights["dense2.bias"]
    elif change == "transposed":
        weights[last] = weights[last].T
    elif change == "doubles":
        weights[last] = weights[last].astype(np.float64)
    elif change == "nan":
        weights[last][1, 1] = np.nan
    elif change == "more":
        weights["dense9.bias"] = np.zeros(3, np.float32)
    elif change != "copy":
        sys.exit(f"unknown: {change}")
    return weights


if sys.argv[1] == "recognise":
    recognise(*sys.argv[2:])
elif sys.argv[1] == "edit":
    shutil.copy(sys.argv[2], sys.argv[3])
    with h5py.File(sys.argv[3], "r+") as edited:
        edited["dense2.weight"][1, 1] += 1
else:
    changed_weights = changed(sys.argv[1], read(sys.argv[2]))
    with h5py.File(sys.argv[3], "w") as new:
        for key, tensor in changed_weights.items():
            new[key] = tensor
