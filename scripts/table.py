#!/usr/bin/env python3
"""Prints benchmark records (the JSON files of bench/) as one Markdown table each."""

import argparse
import pathlib
import sys

import records as benchmark_records


def figure(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def conditions(record):
    """What the figures of a file have in common: settings, versions, the contenders' order and the number of rounds."""
    told = {"settings": record.get("settings", "not recorded")}
    told |= record.get("facts", {}) | {fact: record[fact] for fact in benchmark_records.FACTS if fact in record}
    peers = " ".join(record.get("peers", {}))
    # The hosts forbid it to every program, whether a record says so or not.
    off = "; NVLink multicast is off for all" if "NCCL" in peers or "torch" in record.get("choice", "") else ""
    return f"{record.get('repetitions', 'unknown number of')} rounds; " + "; ".join(f"{name}: {text}" for name, text in told.items()) + off


def table(path):
    records = benchmark_records.read(path)
    peers = list(dict.fromkeys(name for record in records for name in record.get("peers", {})))
    header = ["name", "value", "unit", "floor", "x floor", *peers, "choice", "spread"]
    rows = []
    for record in records:
        floor = record.get("floor")
        rows.append([
            record["name"], figure(record["value"]), record["unit"],
            figure(floor) if floor else "", figure(record["value"] / floor) if floor else "",
            *(figure(record["peers"][peer]) if peer in record.get("peers", {}) else "" for peer in peers),
            record.get("choice", ""), f"{record.get('spread', 0):.0%}",
        ])
    first = records[0] if records else {}
    cut_off = f" ({first['cut_off']})" if "cut_off" in first else ""
    yield f"## {path.stem}: {first.get('hardware', '')}, commit {first.get('commit', '')}{cut_off}"
    yield ""
    if records:
        yield conditions(first)
        yield ""
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def page(paths):
    """Of all files, by name."""
    return "".join(line + "\n" for path in sorted(paths, key=lambda path: path.name) for line in table(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="+", type=pathlib.Path, metavar="RECORDS.json")
    try:
        sys.stdout.write(page(parser.parse_args().records))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"table.py: {error}")


if __name__ == "__main__":
    main()
