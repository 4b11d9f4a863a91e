#!/usr/bin/env python3
"""Turns the files of a run, and records of benchmarks, into pictures.

scripts/plot.py jacobi OUTDIR writes
  OUTDIR/field.png        the newest field; of a 3D one the middle slice along the slowest axis
  OUTDIR/convergence.png  norms.csv: residual and error over the steps, measured and by theory

scripts/plot.py md OUTDIR writes
  OUTDIR/thermo.png  thermo.csv: energies, temperature and pressure over the steps, and how far the total energy strays
  OUTDIR/atoms.png   the oldest and the newest trajectory file: where the atoms are, and how fast; where there are such files

scripts/plot.py sgd OUTDIR writes
  OUTDIR/loss.png  steps.csv and epochs.csv: loss and share recognised, of batches and of the test samples

scripts/plot.py allreduce RECORDS.json... [--out DIR] writes
  DIR/allreduce-HARDWARE-RANKS.png  time and bus bandwidth over the size, beside the peers

scripts/plot.py scaling RECORDS.json... [--out DIR] writes, of figures with several numbers of GPUs of the same hardware
  DIR/scaling-HARDWARE-APP.png  each figure over the number of GPUs, and its share of the ideal

scripts/plot.py tables [--out DIR] writes the bars of docs/performance/tables.toml (docs/images)

scripts/plot.py topo MAP.json [--traffic FILE] [--grid 16x16] [--out DIR] draws what selvage-topo map --json --links printed:
  DIR/methods.png  what each method reaches
  DIR/links.png    the load of each link, before and after
  DIR/traffic.png  with the file that map was given: who talks to whom, by rank and by place
  DIR/grid.png     with the process grid: which host each rank is on, before and after

scripts/plot.py machine MACHINE.json [--out DIR] draws what selvage-topo show --json printed:
  DIR/machine.png  the GPUs of each host, and the links and levels between them
"""

import argparse
import functools
import os
import pathlib
import re
import sys

SYSTEM_PYTHON = "/usr/bin/python3"


def switch_to_system_python(missing):
    """Starts over with the distribution's Python, which is where apt puts matplotlib and h5py."""
    is_system_python = os.path.realpath(sys.executable) == os.path.realpath(SYSTEM_PYTHON)
    if is_system_python or not os.path.exists(SYSTEM_PYTHON) or os.environ.get("SELVAGE_PLOT_RESTARTED"):
        sys.exit(f"plot.py: error: {sys.executable} has no {missing}: install python3-matplotlib and python3-h5py")
    os.environ["SELVAGE_PLOT_RESTARTED"] = "1"
    os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])


try:
    from plots import allreduce, bars, runs, scaling, topo
    from plots.style import PlotError
except ImportError as import_error:
    switch_to_system_python(import_error.name)


def plot_run(pictures, arguments):
    if not arguments.out_dir.is_dir():
        raise PlotError(f"{arguments.out_dir} is not a directory")
    run = runs.read_run(arguments.out_dir)
    drawn = [draw(arguments.out_dir, run) for draw in pictures]
    return [path for path in drawn if path is not None]


def process_grid(text):
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*){1,2}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no grid such as 16x16 or 8x8x4")
    return [int(extent) for extent in text.split("x")]


def add_out(parser, what, default="."):
    parser.add_argument("--out", metavar="DIR", type=pathlib.Path, default=pathlib.Path(default),
                        help=f"where the {what} ({'the current directory' if default == '.' else 'docs/images'})")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    apps = parser.add_subparsers(dest="app", required=True, metavar="APP")
    for name, what, pictures in (("jacobi", "field.png and convergence.png", [runs.plot_field, runs.plot_convergence]),
                                 ("md", "thermo.png, and atoms.png of trajectories", [runs.plot_thermo, runs.plot_atoms]),
                                 ("sgd", "loss.png", [runs.plot_loss])):
        app = apps.add_parser(name, help=what)
        app.add_argument("out_dir", metavar="OUTDIR", type=pathlib.Path, help="the --out directory of the run")
        app.set_defaults(plot=functools.partial(plot_run, pictures))
    for name, what, plot in (("allreduce", "time and bus bandwidth of bench_allreduce's records", allreduce.plot),
                             ("scaling", "records of several numbers of GPUs, against the ideal", scaling.plot)):
        of_records = apps.add_parser(name, help=what)
        of_records.add_argument("records", metavar="RECORDS.json", type=pathlib.Path, nargs="+")
        add_out(of_records, "pictures go")
        of_records.set_defaults(plot=lambda arguments, plot=plot: plot(arguments.records, arguments.out))
    of_docs = apps.add_parser("tables", help="bars of the tables of docs/performance")
    add_out(of_docs, "pictures go", pathlib.Path(__file__).resolve().parent.parent / "docs" / "images")
    of_docs.set_defaults(plot=lambda arguments: bars.plot(arguments.out))
    of_map = apps.add_parser("topo", help="placements of selvage-topo map")
    of_map.add_argument("map", metavar="MAP.json", type=pathlib.Path, help="what map --json printed, best with --links")
    of_map.add_argument("--traffic", metavar="FILE", type=pathlib.Path, help="the profile (HDF5) or CSV that map was given")
    of_map.add_argument("--grid", metavar="CELLS", type=process_grid, help="the process grid of the ranks, such as 16x16")
    add_out(of_map, "pictures go")
    of_map.set_defaults(plot=lambda arguments: topo.plot_map(arguments.map, arguments.traffic, arguments.grid, arguments.out))
    machine = apps.add_parser("machine", help="machine.png: GPUs and their links")
    machine.add_argument("machine", metavar="MACHINE.json", type=pathlib.Path, help="what selvage-topo show --json printed")
    add_out(machine, "picture goes")
    machine.set_defaults(plot=lambda arguments: [topo.plot_machine(arguments.machine, arguments.out)])
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    try:
        for path in arguments.plot(arguments):
            print(path)
    except (PlotError, OSError, KeyError, TypeError, ValueError) as error:
        sys.exit(f"plot.py: error: {error}")


if __name__ == "__main__":
    main()
