#!/usr/bin/env python3
"""Reads what benchmarks record: files of Google Benchmark, in which a repetition is a round of all contenders, and the lists of
records that were kept before it wrote them.

read(path) gives a list of dicts, one per figure:
  name, value, unit, better ("lower" or "higher"), spread, repetitions
  peers    {name: value} of everyone else, and of what follows from the times ("bus, GB/s")
  spreads  {name: spread} of the contenders' times
  floor    what no design can pass, where it is known
  choice   how the first contender, which is ours, does it
  first    the name of the first contender, where the value is its time
  verified, commit, hardware, settings
  facts    {name: text} of what else the run told of itself, of FACTS
  cut_off  in what way a run ended early, whose finished figures were kept

    scripts/records.py --tidy FILE.json...      takes the names of the host and of its folders out of Google Benchmark's files
    scripts/records.py --salvage FILE.json...   keeps the finished figures of a run that was stopped, and says so in its context;
                                                removes a file that has none
"""

import json
import math
import os
import pathlib
import subprocess
import sys

# What a figure is given in, other than the time of its first contender: by the start of its name, the counter, its unit here, and
# the factor to it.
RATES = {
    "lj/": ("Matom-steps/s", "Matom-steps/s", 1),
    "overlap/": ("hidden, %", "%", 1),
    "jacobi/copy-share/": ("of the copy rate, %", "of the copy rate", 0.01),
    "jacobi/weak/": ("scaling, %", "of one alone", 0.01),
}
TIME = ", us"
FLOOR = "floor: "
CUT_OFF = "cut off"
# The contenders' order, and what made the programs.
FACTS = ("order", "version", "NCCL", "MPI", "UCX", "CUDA", "driver", "compiler", "build", "date")
# Google Benchmark's own fields of a benchmark.
OWN_FIELDS = {
    "name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions", "threads", "aggregate_name",
    "aggregate_unit", "iterations", "real_time", "cpu_time", "time_unit", "label", "verified",
}


def read(path):
    data = json.loads(path.read_text())
    if isinstance(data, list):
        return data
    if not isinstance(data, dict) or "benchmarks" not in data:
        raise ValueError(f"{path} has no records of benchmarks")
    aggregates = {}
    for entry in data["benchmarks"]:
        aggregates.setdefault(entry["run_name"], {})[entry.get("aggregate_name")] = entry
    return [record_of(path, name, found, data["context"]) for name, found in aggregates.items()]


def plain(run_name):
    """Without what Google Benchmark appends."""
    return "/".join(part for part in run_name.split("/") if part not in ("manual_time",) and ":" not in part)


def record_of(path, run_name, found, context):
    if "median" not in found or "spread" not in found:
        raise ValueError(f"{path}: {run_name} has no median and spread: it ended early")
    median, spread = found["median"], found["spread"]
    values = {key: value for key, value in median.items() if key not in OWN_FIELDS}
    name = plain(run_name)
    rate, unit, factor = next((rate for start, rate in RATES.items() if name.startswith(start)),
                              (None, median["time_unit"], 1))
    first = next((key for key, value in values.items()
                  if key.endswith(TIME) and math.isclose(value, median["real_time"], rel_tol=1e-6)), None)
    chosen = rate or first
    record = {
        "name": name,
        "value": values[rate] * factor if rate else median["real_time"],
        "unit": unit,
        "better": "higher" if rate else "lower",
        "spread": spread[chosen] if chosen else spread["real_time"],
        "repetitions": median["repetitions"],
        "peers": {key.removesuffix(TIME): value for key, value in values.items() if key != chosen},
        "spreads": {key.removesuffix(TIME): spread[key] for key in values if key.endswith(TIME) and key in spread},
        "choice": median.get("label", ""),
        "verified": median.get("verified") == 1,
        "commit": context["commit"],
        "hardware": context["hardware"],
        "settings": context.get("settings", ""),
        "facts": {fact: context[fact] for fact in FACTS if fact in context},
    }
    if first and not rate:
        record["first"] = first.removesuffix(TIME)
    if CUT_OFF in context:
        record["cut_off"] = context[CUT_OFF]
    floor = next((value for key, value in values.items() if key.startswith(FLOOR)), None)
    if floor is not None and not rate:
        record["floor"] = floor
    return record


def tidy(path):
    data = json.loads(path.read_text())
    for name in ("host_name", "executable", "load_avg"):
        data["context"].pop(name, None)
    path.write_text(json.dumps(data, indent=1) + "\n")


def commit_here():
    """As CMake labels what benchmarks write: SELVAGE_COMMIT, for checkouts without a repository, or the newest commit, "-dirty" with changes."""
    if given := os.environ.get("SELVAGE_COMMIT"):
        return given
    found = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=10"], cwd=pathlib.Path(__file__).parent, check=False,
                           capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def whole_objects(text):
    """Of a list that may end anywhere, after its opening bracket."""
    decoder = json.JSONDecoder()
    at = 0
    while True:
        at += len(text[at:]) - len(text[at:].lstrip(" \n\t\r,"))
        try:
            found, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield found


def salvage(path):
    """The figures that have all their statistics, of a file of which the end is missing."""
    text = path.read_text()
    opening = '"benchmarks": ['
    head, found, rest = text.partition(opening)
    entries = list(whole_objects(rest)) if found else []
    names = {statistic: {entry["run_name"] for entry in entries if entry.get("aggregate_name") == statistic}
             for statistic in ("median", "spread")}
    finished = names["median"] & names["spread"]
    # Statistics are written together: whatever has the last of them has all.
    kept = [entry for entry in entries if entry["run_name"] in finished]
    if not kept:
        path.unlink()
        return
    context = json.loads(head.rstrip().rstrip(",") + "}")["context"]
    context[CUT_OFF] = "cut off by a time limit: figures that follow are missing"
    path.write_text(json.dumps({"context": context, "benchmarks": kept}, indent=1) + "\n")


ACTIONS = {"--tidy": tidy, "--salvage": salvage}


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ACTIONS:
        sys.exit(__doc__)
    for file in sys.argv[2:]:
        ACTIONS[sys.argv[1]](pathlib.Path(file))
