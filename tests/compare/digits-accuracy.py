#!/usr/bin/env python3
"""Trains sgd on digits from several seeds, and prints how many of the test samples each recognises.

    digits-accuracy.py --sgd build/serial/apps/sgd/sgd --data digits.h5 [--ranks 2] [--seeds 10] [--launcher "mpirun -n"]

Exit code 3 unless each run recognises 95 % and all of them 97.5 % on average, in less than 30 s each.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

INPUT = pathlib.Path(__file__).resolve().parents[2] / "inputs/sgd/digits.toml"
LEAST, LEAST_MEAN, MOST_SECONDS = 0.95, 0.975, 30


def train(arguments, seed):
    """The share of the test samples that are recognised, and the seconds that it took."""
    with tempfile.TemporaryDirectory() as out:
        command = [*arguments.launcher.split(), str(arguments.ranks), arguments.sgd, str(INPUT), "--quiet"]
        command += ["--data", arguments.data, "--set", f"train.seed={seed}", "--out", out]
        start = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        seconds = time.monotonic() - start
        with open(out + "/run.json", encoding="utf-8") as file:
            return json.load(file)["results"]["test_accuracy"], seconds


def main():
    parser = argparse.ArgumentParser(description="Trains sgd on digits from several seeds.")
    parser.add_argument("--sgd", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--launcher", default="mpirun -n")
    arguments = parser.parse_args()
    runs = []
    for seed in range(1, arguments.seeds + 1):
        runs.append(train(arguments, seed))
        print(f"seed {seed}: {100 * runs[-1][0]:.2f} %, {runs[-1][1]:.1f} s", flush=True)
    shares = [share for share, _ in runs]
    mean = sum(shares) / len(shares)
    slowest = max(seconds for _, seconds in runs)
    print(f"mean {100 * mean:.2f} %, least {100 * min(shares):.2f} %, slowest {slowest:.1f} s, {arguments.ranks} ranks")
    sys.exit(0 if min(shares) >= LEAST and mean >= LEAST_MEAN and slowest < MOST_SECONDS else 3)


if __name__ == "__main__":
    main()
