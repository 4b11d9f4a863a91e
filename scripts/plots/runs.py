"""Draws what the mini-apps leave: fields, convergence, thermodynamics, atoms and losses."""

import csv
import json
import math
import re
import xml.etree.ElementTree as ElementTree

import h5py
import matplotlib.pyplot as plt
import numpy as np

from plots.style import BLUE, ORANGE, PlotError, save

SERIES_COLORS = {"error": BLUE, "residual": ORANGE}


def step_of(path):
    return int(re.search(r"_(\d+)\.h5$", path.name).group(1))


def newest_field_file(out_dir):
    files = [path for path in out_dir.glob("field*.h5") if re.search(r"_\d+\.h5$", path.name)]
    if not files:
        raise PlotError(f"{out_dir} has no field files (field*_STEP.h5): did the run write fields there?")
    return max(files, key=step_of)


def read_field(path):
    """The first array of the file and its name."""
    try:
        with h5py.File(path, "r") as file:
            names = [name for name, item in file.items() if isinstance(item, h5py.Dataset)]
            if not names:
                raise PlotError(f"{path} holds no array")
            return names[0], file[names[0]][...]
    except OSError as error:
        raise PlotError(f"{path} can't be read: {error}") from error


def read_mesh(out_dir, field_path, axes):
    """Origin and spacing as the XDMF file gives them, slowest axis first; cell numbers without one."""
    series = out_dir / re.sub(r"_\d+\.h5$", ".xdmf", field_path.name)
    if series.exists():
        items = ElementTree.parse(series).findall(".//Geometry/DataItem")
        if len(items) >= 2:
            origin, spacing = ([float(word) for word in item.text.split()] for item in items[:2])
            return origin, spacing, True
    return [0.0] * axes, [1.0] * axes, False


def read_run(out_dir):
    path = out_dir / "run.json"
    if not path.exists():
        return {}
    try:
        return json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise PlotError(f"{path}: {error}") from error


def counted(count, one):
    return f"{count} {one}{'' if int(count) == 1 else 's'}"


def describe_run(run):
    """One line on what ran: case, atoms or data, grid, stencil, precision, ranks; as much as run.json tells."""
    settings = run.get("input", {})
    parts = [settings.get("case", {}).get("name"), settings.get("data", {}).get("path")]
    atoms = run.get("results", {}).get("atoms")
    parts.append(counted(atoms, "atom") if atoms else None)
    cells = settings.get("grid", {}).get("cells")
    parts.append(" x ".join(str(count) for count in cells) if cells else None)
    stencil = settings.get("run", {}).get("stencil")
    parts.append(f"{stencil}-point" if stencil else None)
    parts.append(settings.get("run", {}).get("precision"))
    ranks = run.get("environment", {}).get("ranks")
    parts.append(counted(ranks, "rank") if ranks else None)
    return ", ".join(part for part in parts if part)


def middle_slice(values, origin, spacing):
    """A 2D picture of the field, its extent on paper, and what was cut."""
    note = ""
    if values.ndim == 3:
        middle = values.shape[0] // 2
        note = f", slice at z = {origin[0] + middle * spacing[0]:.3g}"
        values, origin, spacing = values[middle], origin[1:], spacing[1:]
    if values.ndim != 2:
        raise PlotError(f"a field with {values.ndim} axes can't be drawn: only 2 and 3 can")
    left, bottom = origin[1] - spacing[1] / 2, origin[0] - spacing[0] / 2
    extent = [left, left + values.shape[1] * spacing[1], bottom, bottom + values.shape[0] * spacing[0]]
    return values, extent, note


def plot_field(out_dir, run):
    path = newest_field_file(out_dir)
    name, values = read_field(path)
    origin, spacing, physical = read_mesh(out_dir, path, values.ndim)
    picture, extent, note = middle_slice(values, origin, spacing)
    low, high = float(np.min(picture)), float(np.max(picture))
    if not (math.isfinite(low) and math.isfinite(high)):
        raise PlotError(f"{path} holds values that are not finite")
    # A field of both signs gets a map whose middle is zero.
    both_signs = low < 0 < high and min(-low, high) > 0.05 * max(-low, high)
    bound = max(-low, high)
    limits = {"vmin": -bound, "vmax": bound, "cmap": "RdBu_r"} if both_signs else {"cmap": "viridis"}
    figure, axes = plt.subplots(figsize=(6.4, 5.4), constrained_layout=True)
    image = axes.imshow(picture, origin="lower", extent=extent, interpolation="nearest", **limits)
    if high > low and not both_signs:
        axes.contour(picture, levels=8, extent=extent, colors="k", linewidths=0.4, alpha=0.5)
    figure.colorbar(image, ax=axes, label=f"{name} (dimensionless)", shrink=0.9)
    unit = "length of the longest side" if physical else "cells"
    axes.set(xlabel=f"x ({unit})", ylabel=f"y ({unit})")
    axes.set_title(f"{name} after step {step_of(path)}{note}", fontsize=12)
    figure.suptitle(describe_run(run), fontsize=9, color="0.35")
    return save(figure, out_dir / "field.png")


def read_history(path, app):
    """A run's CSV file as {column: array}; empty cells are NaN."""
    if not path.exists():
        raise PlotError(f"{path} does not exist: is this the --out directory of a run of {app}?")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or "step" not in rows[0]:
        raise PlotError(f"{path} has no rows with a column 'step'")
    try:
        return {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0]}
    except (TypeError, ValueError) as error:
        raise PlotError(f"{path}: {error}") from error


def has_values(history, name):
    return name in history and bool(np.any(np.isfinite(history[name])))


def draw_series(axes, history, name, theory, label):
    """Markers for what was measured, a line for what theory says."""
    step, color = history["step"], SERIES_COLORS[name]
    if has_values(history, theory):
        axes.semilogy(step, history[theory], "-", color=color, alpha=0.55, linewidth=2, label=f"{label}, theory")
    every = max(1, len(step) // 40)
    style = "o" if has_values(history, theory) else "o-"
    axes.semilogy(step[::every], history[name][::every], style, color=color, markersize=4, label=f"{label}, measured")


def draw_deviation(axes, history, series):
    """How far the measurement is from theory, relative to it."""
    for name, theory, _ in series:
        if not has_values(history, theory):
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.abs(history[name] / history[theory] - 1)
        deviation[deviation == 0] = np.nan
        axes.semilogy(history["step"], deviation, ".", color=SERIES_COLORS[name], markersize=4)
    axes.set_xlabel("step")
    axes.set_ylabel("|measured / theory - 1|", fontsize=8)
    axes.grid(True, which="major", alpha=0.3)


def plot_convergence(out_dir, run):
    history = read_history(out_dir / "norms.csv", "jacobi")
    known = [("error", "theory", "error / initial error"), ("residual", "residual_theory", "residual norm")]
    series = [entry for entry in known if has_values(history, entry[0])]
    if not series:
        raise PlotError(f"{out_dir / 'norms.csv'} has neither 'residual' nor 'error' values")
    with_theory = any(has_values(history, theory) for _, theory, _ in series)
    panels = 2 if with_theory else 1
    ratios = [3, 1][:panels]
    figure, grid = plt.subplots(panels, 1, figsize=(7, 4 + 1.6 * (panels - 1)), sharex=True, squeeze=False,
                                gridspec_kw={"height_ratios": ratios}, constrained_layout=True)
    top = grid[0][0]
    for name, theory, label in series:
        draw_series(top, history, name, theory, label)
    top.set(ylabel="norm (dimensionless)", title="Convergence" + (" against theory" if with_theory else ""))
    top.grid(True, which="both", alpha=0.25)
    top.legend(fontsize=9)
    if with_theory:
        draw_deviation(grid[1][0], history, series)
    else:
        top.set_xlabel("step")
    figure.suptitle(describe_run(run), fontsize=9, color="0.35")
    return save(figure, out_dir / "convergence.png")


def two_panels(label_above, label_below, run):
    figure, (above, below) = plt.subplots(2, 1, figsize=(7, 6), sharex=True, constrained_layout=True)
    above.set(ylabel=label_above)
    below.set(ylabel=label_below, xlabel="step")
    for axes in (above, below):
        axes.grid(True, alpha=0.3)
    figure.suptitle(describe_run(run), fontsize=9, color="0.35")
    return figure, above, below


def plot_thermo(out_dir, run):
    history = read_history(out_dir / "thermo.csv", "md")
    columns = ("step", "temperature", "pair_energy", "total_energy", "pressure")
    missing = [name for name in columns if name not in history]
    if missing:
        raise PlotError(f"{out_dir / 'thermo.csv'} has no column {missing[0]}")
    step, temperature, pair, total, pressure = (history[name] for name in columns)
    figure, above, below = two_panels("energy per atom (epsilon)", "temperature, pressure (reduced)", run)
    above.plot(step, pair, color=BLUE, label="pairs")
    above.plot(step, total - pair, color=ORANGE, label="kinetic")
    above.plot(step, total, color="k", label="total")
    above.set_title(f"the total energy strays by {np.nanmax(np.abs(total - total[0])):.2g}", fontsize=12)
    below.plot(step, temperature, color=ORANGE, label="temperature")
    below.plot(step, pressure, color=BLUE, label="pressure")
    for axes in (above, below):
        axes.legend(fontsize=9)
    return save(figure, out_dir / "thermo.png")


def read_atoms(path):
    """Edges of the box, positions and speeds of the one frame of a trajectory file (H5MD)."""
    try:
        with h5py.File(path, "r") as file:
            atoms = file["particles/all"]
            velocity = atoms["velocity/value"][0]
            return atoms["box/edges/value"][0], atoms["position/value"][0], np.linalg.norm(velocity, axis=1)
    except (OSError, KeyError) as error:
        raise PlotError(f"{path} can't be read: {error}") from error


def plot_atoms(out_dir, run):
    """Seen along z; the front ones are drawn last."""
    files = sorted(out_dir.glob("trajectory_*.h5"), key=step_of)
    if not files:
        return None
    shown = files if len(files) == 1 else [files[0], files[-1]]
    frames = [read_atoms(path) for path in shown]
    figure, panels = plt.subplots(1, len(shown), figsize=(1 + 4.3 * len(shown), 4.6), squeeze=False, constrained_layout=True)
    fastest = max(np.quantile(speed, 0.99) for _, _, speed in frames)
    for axes, path, (edges, position, speed) in zip(panels[0], shown, frames):
        order = np.argsort(position[:, 2])
        area = (180 / max(edges[0], edges[1])) ** 2
        points = axes.scatter(*position[order, :2].T, c=speed[order], s=area, cmap="viridis", vmin=0, vmax=fastest,
                              edgecolors="0.2", linewidths=0.15)
        axes.set(xlim=(0, edges[0]), ylim=(0, edges[1]), aspect="equal", xlabel="x (sigma)", ylabel="y (sigma)",
                 title=f"step {step_of(path)}")
    figure.colorbar(points, ax=panels[0], label="speed (reduced)")
    figure.suptitle(describe_run(run), fontsize=9, color="0.35")
    return save(figure, out_dir / "atoms.png")


def plot_loss(out_dir, run):
    steps, epochs = (read_history(out_dir / f"{name}.csv", "sgd") for name in ("steps", "epochs"))
    for history, name in ((steps, "loss"), (steps, "accuracy"), (epochs, "test_loss"), (epochs, "test_accuracy")):
        if name not in history:
            raise PlotError(f"{out_dir} has no column {name} in steps.csv or epochs.csv")
    figure, above, below = two_panels("loss", "share recognised", run)
    for axes, name in ((above, "loss"), (below, "accuracy")):
        axes.plot(steps["step"], steps[name], color=BLUE, linewidth=0.8, alpha=0.6, label="batches")
        axes.plot(epochs["step"], epochs[f"test_{name}"], color=ORANGE, linewidth=2, label="test samples")
        axes.legend(fontsize=9)
    above.set_yscale("log")
    above.set_title(f"{epochs['test_accuracy'][-1]:.2%} of the test samples recognised", fontsize=12)
    return save(figure, out_dir / "loss.png")
