"""Draws what selvage-topo says.

Of map: what each method reaches, what each link carries, and who talks to whom. Of show: the GPUs of hosts and their links.
"""

import csv
import json
import math

import h5py
import matplotlib.colors
import matplotlib.pyplot as plt
import numpy as np

from plots.style import BLUE, ORANGE, PALE, save

COLUMNS = ["from", "to", "host_bytes", "host_messages", "device_bytes", "device_messages"]
# The ways between GPUs, the nearest first.
LEVEL_COLORS = {"nvlink": BLUE, "nvswitch": "#2a9d8f", "pcie_switch": "#e9a23b", "root_complex": ORANGE,
                "numa": "#a3485e", "system": "#8d8d8d", "unknown": "#d0d0d0"}
MOST_HOSTS_DRAWN = 8
BEFORE, AFTER, OTHER = "#b0b7be", BLUE, PALE


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


def plot_traffic(mapped, matrix, out_dir):
    """By rank, and by the place that ranks got: what lies near the diagonal stays in a host."""
    if matrix.shape[0] != len(mapped["ranks"]):
        raise ValueError(f"the traffic is of {matrix.shape[0]} ranks, the placement of {len(mapped['ranks'])}")
    by_place = sorted(range(len(mapped["ranks"])), key=lambda r: (mapped["ranks"][r]["host"], mapped["ranks"][r]["slot"]))
    host_ends = np.cumsum([host["slots"] for host in mapped["hosts"]])[:-1]
    # Where slots stay free, fewer ranks are on a host.
    placed_ends = np.cumsum(np.bincount([rank["host"] for rank in mapped["ranks"]], minlength=len(mapped["hosts"])))[:-1]
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), constrained_layout=True)
    norm = scale_of(matrix)
    draw_matrix(axes[0], matrix, "by rank", host_ends, norm)
    image = draw_matrix(axes[1], matrix[np.ix_(by_place, by_place)], f"by place: {mapped['method']}", placed_ends, norm)
    figure.colorbar(image, ax=axes, label="bytes")
    figure.suptitle("who talks to whom; lines part hosts")
    return save(figure, out_dir / "traffic.png")


def plot_methods(mapped, out_dir):
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


def plot_links(mapped, out_dir):
    """Links by load, the fullest first, before and after."""
    loads = {"default": [link["default_load"] for link in mapped["links"]], mapped["method"]: [link["load"] for link in mapped["links"]]}
    figure, axes = plt.subplots(figsize=(7, 4), constrained_layout=True)
    for (name, values), color in zip(loads.items(), (BEFORE, AFTER)):
        axes.step(range(1, len(values) + 1), sorted(values, reverse=True), where="mid", color=color, label=name)
    axes.set(xlabel="link, the fullest first", ylabel="bytes per capacity", title=f"{mapped['fabric']}: load of links", ylim=0)
    axes.grid(True, alpha=0.25)
    axes.legend()
    return save(figure, out_dir / "links.png")


def draw_grid(axes, hosts, title):
    """The hosts of a grid's ranks: a colour each, and a line between neighbours on different hosts."""
    rows, columns = hosts.shape
    axes.imshow(hosts * 7 % 20, cmap="tab20", vmin=0, vmax=19, alpha=0.75, interpolation="none")
    for row, column in np.argwhere(hosts[:, 1:] != hosts[:, :-1]):
        axes.plot([column + 0.5] * 2, [row - 0.5, row + 0.5], color="k", linewidth=1)
    for row, column in np.argwhere(hosts[1:, :] != hosts[:-1, :]):
        axes.plot([column - 0.5, column + 0.5], [row + 0.5] * 2, color="k", linewidth=1)
    axes.set(title=title, xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), xticks=[], yticks=[])


def plot_grid(mapped, shape, out_dir):
    """Which host each rank of a grid is on, by default and as chosen; of a 3D grid the first layer."""
    chosen = [rank["host"] for rank in mapped["ranks"]]
    if math.prod(shape) != len(chosen):
        raise ValueError(f"a grid of {' x '.join(map(str, shape))} ranks for a placement of {len(chosen)}")
    default = [number for number, host in enumerate(mapped["hosts"]) for _ in range(host["slots"])][: len(chosen)]
    between = {method["method"]: method["bytes_between_hosts"] / 1e6 for method in mapped["methods"]}
    figure, panels = plt.subplots(1, 2, figsize=(9, 4.9), constrained_layout=True)
    for axes, name, hosts in ((panels[0], "default", default), (panels[1], mapped["method"], chosen)):
        layer = np.array(hosts).reshape(-1, *shape[-2:])[0]
        draw_grid(axes, layer, f"{name}: {between[name]:.4g} MB between hosts")
    figure.suptitle(f"{mapped['fabric']}: a colour per host, lines part hosts", fontsize=10)
    return save(figure, out_dir / "grid.png")


def plot_map(map_path, traffic_path, shape, out_dir):
    mapped = read_map(map_path)
    pictures = [plot_methods(mapped, out_dir)]
    if shape:
        pictures.append(plot_grid(mapped, shape, out_dir))
    if mapped.get("links"):
        pictures.append(plot_links(mapped, out_dir))
    if traffic_path is not None:
        pictures.append(plot_traffic(mapped, read_traffic(traffic_path), out_dir))
    return pictures


def read_machine(path):
    found = json.loads(path.read_text())
    if not isinstance(found, dict) or found.get("selvage_machine_version") != 1:
        raise ValueError(f"{path} is not what selvage-topo show --json prints")
    return found


def link_label(pair):
    speed = pair["nvlink_gb_per_s"]["value"]
    links = f"{pair['nvlinks']} x NVLink" if pair["nvlinks"] else ""
    return f"{links}, {speed:.4g} GB/s" if links and speed is not None else links


def draw_way(axes, begin, end, pair, label):
    """Wider with more links; labelled nearer to its beginning, so that crossing ways keep their labels apart."""
    axes.plot(*zip(begin, end), color=LEVEL_COLORS[pair["level"]], linewidth=1 + min(pair["nvlinks"], 18) / 4, zorder=1)
    if label:
        at = 0.65 * np.array(begin) + 0.35 * np.array(end)
        axes.text(*at, label, fontsize=6, ha="center", va="center", zorder=2,
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8})


def draw_ways(axes, gpus, pairs, places):
    """All pairs, but one spoke per GPU to the middle where switches join them."""
    spokes = {}
    for pair in pairs:
        if pair["level"] == "nvswitch":
            for name in (pair["first"], pair["second"]):
                spokes.setdefault(name, pair)
        else:
            draw_way(axes, places[pair["first"]], places[pair["second"]], pair, link_label(pair))
    for number, gpu in enumerate(gpus):
        if gpu["pci_bus_id"] in spokes:
            pair = spokes[gpu["pci_bus_id"]]
            draw_way(axes, places[gpu["pci_bus_id"]], (0, 0), pair, link_label(pair) if number == 0 else "")
    if spokes:
        axes.text(0, 0, "NVSwitch", fontsize=8, ha="center", va="center", zorder=3,
                  bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": LEVEL_COLORS["nvswitch"]})


def host_title(host):
    labels = {"cores": "cores", "numa_nodes": "NUMA nodes"}
    counts = [f"{label}: {host[key]['value']}" for key, label in labels.items() if host[key]["value"] is not None]
    switches = host["switches"]["value"]
    return "\n".join([", ".join([host["name"], *counts]), *(["below " + " > ".join(switches)] if switches else [])])


def draw_host(axes, host):
    axes.set(title=host_title(host), aspect="equal", xlim=(-1.5, 1.5), ylim=(-1.35, 1.35))
    axes.title.set_fontsize(9)
    axes.axis("off")
    gpus = host["gpus"]["value"]
    if not gpus:
        text = "no GPUs" if gpus == [] else f"GPUs unknown:\n{host['gpus']['unknown']}"
        axes.text(0, 0, text, ha="center", va="center", fontsize=8, wrap=True)
        return
    angles = [math.pi / 2 - 2 * math.pi * number / len(gpus) for number in range(len(gpus))]
    places = {gpu["pci_bus_id"]: (math.cos(angle), math.sin(angle)) for gpu, angle in zip(gpus, angles)}
    draw_ways(axes, gpus, host["gpu_pairs"], places)
    for gpu in gpus:
        node = gpu["numa_node"]["value"]
        axes.text(*places[gpu["pci_bus_id"]], gpu["pci_bus_id"] + ("" if node is None else f"\nNUMA node {node}"), fontsize=7, ha="center",
                  va="center", zorder=3, bbox={"boxstyle": "round", "facecolor": "#eef3f7", "edgecolor": "0.4"})


def plot_machine(path, out_dir):
    """The GPUs of each host and the ways between them."""
    machine = read_machine(path)
    hosts = machine["physical_hosts"][:MOST_HOSTS_DRAWN]
    columns = min(len(hosts), 4)
    rows = math.ceil(len(hosts) / max(columns, 1))
    figure, grid = plt.subplots(rows, columns, figsize=(4.6 * columns, 4.6 * rows + 0.6), squeeze=False, constrained_layout=True)
    for axes in grid.flat:
        axes.axis("off")
    for axes, host in zip(grid.flat, hosts):
        draw_host(axes, host)
    levels = {pair["level"] for host in hosts for pair in host["gpu_pairs"]}
    handles = [plt.Line2D([], [], color=color, label=level.replace("_", " ")) for level, color in LEVEL_COLORS.items() if level in levels]
    if handles:
        figure.legend(handles=handles, loc="lower center", ncol=len(handles), fontsize=8, frameon=False)
    more = len(machine["physical_hosts"]) - len(hosts)
    figure.suptitle("ways between GPUs" + (f" ({more} more hosts aren't drawn)" if more else ""), fontsize=10)
    return save(figure, out_dir / "machine.png")
