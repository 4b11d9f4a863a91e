"""Draws what bench_allreduce records: time and bus bandwidth over the size, beside the peers."""

import re

import matplotlib.pyplot as plt

import records as benchmark_records
from plots.style import BLUE, ORANGE, save

NAME = re.compile(r"allreduce/(?P<type>[^/]+)/(?P<ranks>\d+)(?P<unit>rank|gpu)/(?P<bytes>\d+)(?P<graph>/graph)?$")
OURS = "Selvage"
# What others than we give; the rest of a record's peers are our forms that were not chosen.
OTHERS = ("NCCL", "NCCL, symmetric window", "MPI_Allreduce", "torch NCCL", "torch one_shot", "torch two_shot")
STYLES = {OURS: {"color": BLUE, "linewidth": 2.2, "marker": "o"}}
OTHER_COLORS = (ORANGE, "#d9a441", "#5a8f29", "#7a4fa3", "#b5922a", "#8c564b")


def read_records(paths):
    """Records of allreduces, sorted by size."""
    found = []
    for path in paths:
        for record in benchmark_records.read(path):
            match = NAME.match(record.get("name", ""))
            if match:
                found.append((int(match["bytes"]), match.groupdict(), record))
    if not found:
        raise ValueError(f"{', '.join(map(str, paths))}: no record's name starts with allreduce/")
    return sorted(found, key=lambda entry: entry[0])


def microseconds(record):
    if record["unit"] != "us":
        raise ValueError(f"{record['name']} is in {record['unit']}, not in us")
    return record["value"]


def is_ours(record):
    """Or of a benchmark that only runs others, such as bench_torch_allreduce.py."""
    return record.get("choice") not in OTHERS


def series_of(entries):
    """{name: [(bytes, us)]}, ours first. Others' own records count where we have one of that name: a graph beside a graph."""
    ours = {record["name"] for _, _, record in entries if is_ours(record)}
    series = {OURS: []}
    for size, _, record in entries:
        if ours and record["name"] not in ours:
            continue
        name = OURS if is_ours(record) else record["choice"]
        series.setdefault(name, []).append((size, microseconds(record)))
        for peer, time in record.get("peers", {}).items():
            if peer in OTHERS:
                series.setdefault(peer, []).append((size, time))
    return {name: points for name, points in series.items() if points}


def algorithm_of(record):
    """Older records say it apart, or in their choice: "chosen: two_shot"."""
    return record.get("algorithm") or record.get("choice", "").rpartition(": ")[2]


def mark_algorithms(axes, entries):
    """A line where another algorithm takes over, with the names beside it, each a line above the one before."""
    previous = None
    height = 0.01
    for size, _, record in entries:
        if not is_ours(record):
            continue
        algorithm = algorithm_of(record)
        if algorithm != previous:
            axes.axvline(size, color="0.8", linewidth=0.8, zorder=0)
            axes.text(size, height, f" {algorithm}", transform=axes.get_xaxis_transform(), fontsize=7, color="0.4")
            height += 0.03
        previous = algorithm


def size_text(size, _=None):
    for unit, width in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if size >= width:
            return f"{size / width:g}{unit}"
    return f"{size:g}"


def title_of(entries):
    _, what, record = entries[0]
    unit = "GPUs" if what["unit"] == "gpu" else "ranks"
    graphs = ", in a graph where it has one" if any(what["graph"] for _, what, _ in entries) else ""
    return f"allreduce, {what['type']} sum, {what['ranks']} {unit} of {record['hardware']}{graphs}"


def draw(entries):
    """The figure. All entries are of one job."""
    what = entries[0][1]
    ranks = int(what["ranks"])
    share = 2 * (ranks - 1) / ranks
    figure, (times, rates) = plt.subplots(1, 2, figsize=(11, 4.4), constrained_layout=True)
    colors = iter(OTHER_COLORS)
    for name, points in series_of(entries).items():
        style = STYLES.get(name) or {"color": next(colors), "linewidth": 1.4, "marker": "s"}
        sizes = [size for size, _ in points]
        times.loglog(sizes, [time for _, time in points], label=name, markersize=4, **style)
        rates.semilogx(sizes, [share * size / time * 1e-3 for size, time in points], label=name, markersize=4, **style)
    times.set(ylabel="time (us)", title="Time")
    rates.set(ylabel="bus bandwidth (GB/s)", title="2 (n - 1) / n of the bytes over the time")
    mark_algorithms(times, entries)
    for axes in (times, rates):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(size_text)
        axes.set_xlabel("bytes")
        axes.grid(True, which="major", alpha=0.3)
        axes.legend(fontsize=9)
    figure.suptitle(title_of(entries), fontsize=11)
    return figure


def jobs_of(entries):
    """{(type, ranks, unit, hardware): entries}"""
    jobs = {}
    for entry in entries:
        _, what, record = entry
        jobs.setdefault((what["type"], what["ranks"], what["unit"], record["hardware"]), []).append(entry)
    return jobs


def plot(paths, out_dir):
    """One picture per job: allreduce-<hardware>-<ranks><unit>.png, of other types than fp32 with the type."""
    written = []
    for (kind, ranks, unit, hardware), entries in jobs_of(read_records(paths)).items():
        suffix = "" if kind == "fp32" else f"-{kind}"
        machine = re.sub(r"[^A-Za-z0-9.-]+", "-", hardware)
        written.append(save(draw(entries), out_dir / f"allreduce-{machine}-{ranks}{unit}{suffix}.png"))
    return written
