"""Draws what records of benchmarks say of more GPUs or ranks of one machine: each figure over their number, and its share
of what it would be if they were as good as the fewest measured."""

import re

import matplotlib.pyplot as plt

import records as benchmark_records
from plots.style import save

# A figure's name holds the number of its ranks: "lj/fp64/32000/4gpu", "allreduce/fp32/4gpu/1024/graph".
COUNT = re.compile(r"/(?P<ranks>\d+)(?P<unit>gpu|rank)(?=/|$)")


def same_time(ranks):
    return 1.0


def same_bus_bandwidth(ranks):
    """The time of an allreduce: the least that each rank sends."""
    return 2 * (ranks - 1) / ranks


# By the start of a figure's name: what it grows with when nothing is lost, and how that is called.
IDEALS = {
    "allreduce/": (same_bus_bandwidth, "the bus bandwidth of the fewest"),
    "sgd/synthetic": (same_bus_bandwidth, "the bus bandwidth of the fewest"),
    "sgd/": (same_time, "the time of a step of as much per rank"),
    "halo/": (same_time, "the time of an exchange"),
    "jacobi/public-sample/": (lambda ranks: 1 / ranks, "a share each of the time of one"),
    "jacobi/weak/": (same_time, "the time of one with as much per rank"),
    "lj/": (lambda ranks: ranks, "as many times the rate of one"),
}
# The records' figures of this kind are shares of what one rank alone does.
SHARES = "jacobi/weak/"


def is_of_others(record):
    """Made by scripts/bench_torch_*.py."""
    return record.get("choice", "").startswith("torch ")


def ideal_of(figure):
    return next((ideal for start, ideal in IDEALS.items() if figure.startswith(start)), None)


def picture_of(figure):
    """Shares stand apart from times: "jacobi", "jacobi-weak"."""
    parts = figure.split("/")
    return "-".join(parts[:2]) if figure.startswith(SHARES) else parts[0]


def read_figures(paths):
    """{(hardware, picture, unit of ranks): {figure: {ranks: (value, unit, better)}}} of figures of two or more numbers of ranks."""
    groups = {}
    for path in paths:
        for record in benchmark_records.read(path):
            match = COUNT.search(record["name"])
            figure = COUNT.sub("", record["name"])
            if match and ideal_of(figure) and not is_of_others(record):
                group = groups.setdefault((record["hardware"], picture_of(figure), match["unit"]), {})
                group.setdefault(figure, {})[int(match["ranks"])] = (record["value"], record["unit"], record["better"])
    for group in groups.values():
        add_ones(group)
    several = {key: {figure: by_ranks for figure, by_ranks in group.items() if len(by_ranks) > 1}
               for key, group in groups.items()}
    several = {key: group for key, group in several.items() if group}
    if not several:
        raise ValueError(f"{', '.join(map(str, paths))}: no figure of two numbers of GPUs or ranks of the same hardware")
    return several


def add_ones(group):
    for figure, by_ranks in group.items():
        if figure.startswith(SHARES):
            _, unit, better = next(iter(by_ranks.values()))
            by_ranks.setdefault(1, (1.0, unit, better))


def shares(figure, by_ranks):
    """[(ranks, share of the ideal)]: 1 where nothing is lost against the fewest ranks measured."""
    growth, _ = ideal_of(figure)
    fewest = min(by_ranks)
    start = by_ranks[fewest][0] / growth(fewest)
    result = []
    for ranks, (value, _, better) in sorted(by_ranks.items()):
        ideal = start * growth(ranks)
        result.append((ranks, value / ideal if better == "higher" else ideal / value))
    return result


def draw(key, group):
    hardware, app, unit = key
    many = "GPUs" if unit == "gpu" else "ranks"
    figure, (values, parts) = plt.subplots(1, 2, figsize=(12, 5), constrained_layout=True)
    colors = plt.get_cmap("viridis")
    for index, (name, by_ranks) in enumerate(group.items()):
        color = colors(index / max(len(group) - 1, 1) * 0.9)
        draw_values(values, name, by_ranks, color)
        ranks, share = zip(*shares(name, by_ranks))
        parts.plot(ranks, share, marker="o", markersize=4, color=color, label=name)
    units = ", ".join(sorted({unit for by_ranks in group.values() for _, unit, _ in by_ranks.values()}))
    values.set(yscale="log", ylabel=units, title="Measured, and the ideal (dotted)")
    parts.axhline(1, color="0.4", linestyle=":")
    parts.set(ylabel="share of the ideal", title="Share of the ideal", ylim=(0, None))
    counts = sorted({ranks for by_ranks in group.values() for ranks in by_ranks})
    for axes in (values, parts):
        axes.set_xscale("log", base=2)
        axes.set_xticks(counts, counts)
        axes.set_xlabel(many)
        axes.grid(True, which="major", alpha=0.3)
    parts.legend(fontsize=7)
    ideals = " or ".join(sorted({ideal_of(name)[1] for name in group}))
    figure.suptitle(f"{app}, {hardware}; the ideal: {ideals}", fontsize=11)
    return figure


def draw_values(axes, name, by_ranks, color):
    growth, _ = ideal_of(name)
    ranks = sorted(by_ranks)
    start = by_ranks[ranks[0]][0] / growth(ranks[0])
    axes.plot(ranks, [by_ranks[count][0] for count in ranks], marker="o", markersize=4, color=color)
    axes.plot(ranks, [start * growth(count) for count in ranks], color=color, linestyle=":", linewidth=1)


def plot(paths, out_dir):
    """scaling-<hardware>-<app>.png, of ranks on hosts with -ranks."""
    written = []
    for key, group in read_figures(paths).items():
        hardware, app, unit = key
        machine = re.sub(r"[^A-Za-z0-9.-]+", "-", hardware)
        suffix = "" if unit == "gpu" else "-ranks"
        written.append(save(draw(key, group), out_dir / f"scaling-{machine}-{app}{suffix}.png"))
    return written
