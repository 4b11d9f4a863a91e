"""Draws tables of docs/performance/tables.toml as bars: those with a `plot`, which names the columns and where the picture goes.

    plot = { columns = ["Selvage, us", "packed by hand, us"], file = "layouts.png", title = "of the picture; else the table's" }

Rows whose cells in these columns aren't all numbers, such as commits, are left out. The axis is logarithmic where the values reach
over more than a factor of ten.

With `phases`, the names of rows, the picture is a time line: a bar per column, in which these rows follow each other. `total` is the
row with what they take together.
"""

import matplotlib.pyplot as plt

import tables
from plots.style import BLUE, GREEN, GREY, OCHRE, ORANGE, VIOLET, PlotError, save

COLORS = (BLUE, ORANGE, GREY, GREEN, OCHRE, VIOLET)
ROW_INCHES = 0.13


def numbers_of(all_records, definition):
    """[(row, [a number per column of the plot])]."""
    wanted = definition["plot"]["columns"]
    titles = [column["title"] for column in definition["columns"]]
    missing = [title for title in wanted if title not in titles]
    if missing:
        raise ValueError(f"a plot wants the column '{missing[0]}', and there are {', '.join(titles)}")
    rows = []
    for title, *cells in tables.cells(all_records, definition):
        try:
            rows.append((title.replace("`", ""), [float(cells[titles.index(column)]) for column in wanted]))
        except ValueError:
            continue
    if not rows:
        raise ValueError(f"no row has numbers in the columns {', '.join(wanted)}")
    return rows


def draw(definition, rows):
    columns = definition["plot"]["columns"]
    thickness = 0.8 / len(columns)
    height = 1.2 + ROW_INCHES * len(rows) * (len(columns) + 1)
    figure, axes = plt.subplots(figsize=(8, height), constrained_layout=True)
    for place, column in enumerate(columns):
        values = [numbers[place] for _, numbers in rows]
        at = [row + place * thickness for row in range(len(rows))]
        bars = axes.barh(at, values, thickness, color=COLORS[place % len(COLORS)], label=column.replace("`", ""))
        axes.bar_label(bars, [f"{value:g}" for value in values], fontsize=6, padding=2)
    axes.set_yticks([row + (len(columns) - 1) * thickness / 2 for row in range(len(rows))], [title for title, _ in rows], fontsize=8)
    axes.invert_yaxis()
    every = [value for _, numbers in rows for value in numbers]
    if min(every) > 0 and max(every) > 10 * min(every):
        axes.set_xscale("log")
    axes.margins(x=0.12, y=0.01)
    axes.set_title(definition["plot"].get("title", definition["title"]).replace("`", ""), fontsize=10)
    axes.grid(True, axis="x", alpha=0.3)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.3 / height), ncols=len(columns), frameon=False)
    return figure


def draw_time_line(definition, rows):
    columns = definition["plot"]["columns"]
    phases = definition["plot"]["phases"]
    numbers = dict(rows)
    total = definition["plot"]["total"]
    missing = [phase for phase in [*phases, total] if phase not in numbers]
    if missing:
        raise ValueError(f"a plot wants the row '{missing[0]}', and there are {', '.join(numbers)}")
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.32 * len(columns)), constrained_layout=True)
    begin = [0.0] * len(columns)
    for place, phase in enumerate(phases):
        bars = axes.barh(range(len(columns)), numbers[phase], 0.7, begin, color=COLORS[place % len(COLORS)], label=phase)
        # Only where a number fits.
        axes.bar_label(bars, [f"{value:g}" if value > 0.04 * axes.get_xlim()[1] else "" for value in numbers[phase]],
                       label_type="center", fontsize=6, color="white")
        begin = [sum(pair) for pair in zip(begin, numbers[phase])]
    axes.bar_label(bars, [f"{value:g}" for value in numbers[total]], fontsize=7, padding=3)
    axes.set_yticks(range(len(columns)), [column.replace("`", "") for column in columns], fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.08)
    axes.set_xlabel(definition["plot"].get("unit", "us"), fontsize=8)
    axes.set_title(definition["plot"].get("title", definition["title"]).replace("`", ""), fontsize=10)
    axes.grid(True, axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    axes.legend(fontsize=8, loc="upper right", frameon=True)
    return figure


def plot(out_dir):
    """One picture per table with a `plot`."""
    try:
        pages = tables.Pages(tables.REPOSITORY)
        written = []
        for definition in pages.tables.values():
            if "plot" in definition:
                rows = numbers_of(pages.records, definition)
                figure = (draw_time_line if "phases" in definition["plot"] else draw)(definition, rows)
                written.append(save(figure, out_dir / definition["plot"]["file"]))
        return written
    except tables.Problem as problem:
        raise PlotError(problem) from problem
