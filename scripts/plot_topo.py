"""Draws what selvage-topo map says: what each method reaches, what each link carries, and who talks to whom."""

import csv
import json

import h5py
import matplotlib.colors
import matplotlib.pyplot as plt
import numpy as np

COLUMNS = ["from", "to", "host_bytes", "host_messages", "device_bytes", "device_messages"]
BEFORE, AFTER, OTHER = "#b0b7be", "#1b6ca8", "#c9d6e2"


def read_map(path):
    found = json.loads(path.read_text())
    if not isinstance(found, dict) or "selvage_placement_version" not in found:
        raise ValueError(f"{path} is not what selvage-topo map --json prints")
    return found


def read_csv(path):
    with path.open(newline="") as file:
        rows = csv.DictReader(file)
        if rows.fieldnames != COLUMNS:
            raise ValueError(f"{path} doesn't begin with {','.join(COLUMNS)}")
        entries = [(int(row["from"]), int(row["to"]), int(row["host_bytes"]) + int(row["device_bytes"])) for row in rows]
    ranks = 1 + max((max(sender, receiver) for sender, receiver, _ in entries), default=0)
    matrix = np.zeros((ranks, ranks))
    for sender, receiver, size in entries:
        matrix[sender, receiver] += size
    return matrix


def read_traffic(path):
    """Bytes of host and device memory together, row = sender."""
    if path.suffix == ".csv":
        return read_csv(path)
    with h5py.File(path) as file:
        return file["host/bytes"][()].astype(float) + file["device/bytes"][()]


def scale_of(matrix):
    """Logarithmic; wide enough to draw also where all are equal."""
    positive = matrix[matrix > 0]
    return matplotlib.colors.LogNorm(positive.min(), max(positive.max(), 2 * positive.min())) if positive.size else None


def draw_matrix(axes, matrix, title, host_ends, norm):
    image = axes.imshow(np.where(matrix > 0, matrix, np.nan), norm=norm, cmap="viridis", interpolation="none")
    for end in host_ends:
        axes.axhline(end - 0.5, color="0.8", linewidth=0.4)
        axes.axvline(end - 0.5, color="0.8", linewidth=0.4)
    axes.set(title=title, xlabel="receiver", ylabel="sender")
    return image


def plot_traffic(mapped, matrix, out_dir, save):
    """By rank, and by the place that ranks got: what lies near the diagonal stays in a host."""
    if matrix.shape[0] != len(mapped["ranks"]):
        raise ValueError(f"the traffic is of {matrix.shape[0]} ranks, the placement of {len(mapped['ranks'])}")
    by_place = sorted(range(len(mapped["ranks"])), key=lambda r: (mapped["ranks"][r]["host"], mapped["ranks"][r]["slot"]))
    host_ends = np.cumsum([host["slots"] for host in mapped["hosts"]])[:-1]
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), constrained_layout=True)
    norm = scale_of(matrix)
    draw_matrix(axes[0], matrix, "by rank", host_ends, norm)
    image = draw_matrix(axes[1], matrix[np.ix_(by_place, by_place)], f"by place: {mapped['method']}", host_ends, norm)
    figure.colorbar(image, ax=axes, label="bytes")
    figure.suptitle("who talks to whom; lines part hosts")
    return save(figure, out_dir / "traffic.png")


def plot_methods(mapped, out_dir, save):
    methods = [method for method in mapped["methods"] if method.get("percent_of_default") is not None]
    names = [method["method"] for method in methods]
    colors = [AFTER if name == mapped["method"] else BEFORE if name == "default" else OTHER for name in names]
    figure, axes = plt.subplots(figsize=(7, 0.4 * len(names) + 1.5), constrained_layout=True)
    bars = axes.barh(names, [method["percent_of_default"] for method in methods], color=colors)
    axes.bar_label(bars, fmt="%.1f", fontsize=8, padding=2)
    axes.axvline(100, color="0.4", linewidth=0.8)
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.set(xlabel="hop-bytes, % of the default's", title=f"{mapped['fabric']}: {mapped['method']} ({mapped['reason']})")
    return save(figure, out_dir / "methods.png")


def plot_links(mapped, out_dir, save):
    """Links by load, the fullest first, before and after."""
    loads = {"default": [link["default_load"] for link in mapped["links"]], mapped["method"]: [link["load"] for link in mapped["links"]]}
    figure, axes = plt.subplots(figsize=(7, 4), constrained_layout=True)
    for (name, values), color in zip(loads.items(), (BEFORE, AFTER)):
        axes.step(range(1, len(values) + 1), sorted(values, reverse=True), where="mid", color=color, label=name)
    axes.set(xlabel="link, the fullest first", ylabel="bytes per capacity", title=f"{mapped['fabric']}: load of links", ylim=0)
    axes.grid(True, alpha=0.25)
    axes.legend()
    return save(figure, out_dir / "links.png")


def plot_topo(map_path, traffic_path, out_dir, save):
    mapped = read_map(map_path)
    pictures = [plot_methods(mapped, out_dir, save)]
    if mapped.get("links"):
        pictures.append(plot_links(mapped, out_dir, save))
    if traffic_path is not None:
        pictures.append(plot_traffic(mapped, read_traffic(traffic_path), out_dir, save))
    return pictures
