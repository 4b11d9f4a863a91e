#!/usr/bin/env python3
"""Reads what benchmarks record: files of Google Benchmark, in which a repetition is a round of all contenders, and the lists of
records that were kept before it wrote them.

read(path) gives a list of dicts, one per figure:
  name, value, unit, better ("lower" or "higher"), spread, repetitions
  peers    {name: value} of everyone else, and of what follows from the times ("bus, GB/s")
  floor    what no design can pass, where it is known
  choice   how the first contender, which is ours, does it
  verified, commit, hardware, settings

    scripts/records.py --tidy FILE.json...   takes the names of the host and of its folders out of Google Benchmark's files
"""

import json
import math
import pathlib
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
        "choice": median.get("label", ""),
        "verified": median.get("verified") == 1,
        "commit": context["commit"],
        "hardware": context["hardware"],
        "settings": context.get("settings", ""),
    }
    floor = next((value for key, value in values.items() if key.startswith(FLOOR)), None)
    if floor is not None and not rate:
        record["floor"] = floor
    return record


def tidy(path):
    data = json.loads(path.read_text())
    for name in ("host_name", "executable", "load_avg"):
        data["context"].pop(name, None)
    path.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--tidy":
        sys.exit(__doc__)
    for file in sys.argv[2:]:
        tidy(pathlib.Path(file))
