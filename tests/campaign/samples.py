"""Good inputs of every kind, made once in the campaign's folder by the programs themselves, for the tries to damage."""

import random
import struct

from processes import ALONE

RICH_TOML = {
    "jacobi": """[case]\nname = "dirichlet"\namplitude = 2.5\n[grid]\ncells = [24, 20]\nperiodic = [false, true]\n[run]\nsteps = 6
norm_every = 2\ntolerance = 1e-9\nstencil = 9\nsteps_per_exchange = 2\nprecision = "fp32"\noverlap = "host"\nverify = true
[comm]\ntransport = "auto"\ninitiation = "host"\nranks_grid = "1x1"\n[output]\nfields_every = 3\n[restart]\nevery = 3\n""",
    "md": """[system]\ncells = [4, 4, 4]\ndensity = 0.8\ndroplet_radius = 3.0\ndroplet_centre = [0.5, 0.5, 0.5]\n[velocity]
temperature = 1.2\nseed = 7\n[pair]\ncutoff = 2.0\nshifted = true\n[list]\nkind = "half"\nskin = 0.3\nrebuild = "displacement"
every = 1\n[thermostat]\nkind = "langevin"\ntemperature = 0.7\ndamping = 0.5\nseed = 3\n[balance]\nkind = "atoms"\nthreshold = 1.1
[run]\nsteps = 4\ndt = 0.002\nprecision = "mixed"\n[output]\nthermo_every = 2\ntrajectory_every = 2\n[restart]\nevery = 2\n""",
    "sgd": """[data]\npath = "IDX"\n[model]\nimage = [4, 4]\nchannels = [2]\nhidden = [8]\n[train]\nseed = 1\nepochs = 2\nbatch = 24
grain = 4\nrate = 0.1\nwarmup_steps = 2\nmomentum = 0.9\nweight_decay = 1e-4\n[comm]\nreduce = "ordered"\nbucket_bytes = 4096
[run]\nsteps = 4\ntimed_steps = 0\n[restart]\nevery = 2\n[verify]\naccuracy = 0.1\n""",
}
LAMMPS_DATA = """two atoms

2 atoms
1 atom types
0 9 xlo xhi
0 9 ylo yhi
0 9 zlo zhi

Atoms

1 1 1 1 1
2 1 2.5 1 1

Velocities

1 0 0 0
2 0 0 1
"""
CSV = "from,to,host_bytes,host_messages,device_bytes,device_messages\n0,1,4096,4,0,0\n1,0,4096,4,0,0\n2,3,100,1,65536,2\n3,0,1,1,0,0\n"
TOPOLOGY = "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=top Switches=s[0-1]\n"
SCOTCH = "tleaf 2 2 10 4 1\n"
# Values that are good, of variables that every app reads at the start.
VARIABLES = {
    "SELVAGE_TRANSPORT": "mpi_staged", "SELVAGE_INITIATION": "queue", "SELVAGE_TIMEOUT_MS": "20000",
    "SELVAGE_SETUP_TIMEOUT_MS": "20000", "SELVAGE_IO_TIMEOUT_MS": "20000", "SELVAGE_LOGICAL_HOSTS": "1x1",
    "SELVAGE_GRID_REORDER": "no", "SELVAGE_COPY_PATHS": "static", "SELVAGE_COPY_SPLIT_BYTES": "1048576",
    "SELVAGE_QUEUE_PLACEMENT": "host", "SELVAGE_PROXY": "caller", "SELVAGE_ALLREDUCE": "mpi", "SELVAGE_ALLREDUCE_REORDERING": "yes",
    "SELVAGE_ALLREDUCE_TABLE": "off", "SELVAGE_PROBES": "off", "SELVAGE_GPU_AWARE_MPI": "no",
}


class Samples:
    def __init__(self, campaign):
        self.campaign = campaign
        self.folder = campaign.folder / "samples"
        self.folder.mkdir()
        self.idx = self.folder / "idx"
        self._write_idx()
        self._made = {}

    def make(self, name, writes):
        """The path of a sample, which `writes` makes on its first use. None where a program of this build is missing."""
        if name not in self._made:
            self._made[name] = writes()
        return self._made[name]

    def text(self, name, text):
        def write():
            path = self.folder / name
            path.write_text(text)
            return path
        return self.make(name, write)

    def toml(self, app):
        return self.text(f"{app}.toml", RICH_TOML[app].replace("IDX", str(self.idx)))

    def lammps(self):
        return self.text("start.data", LAMMPS_DATA)

    def of_run(self, app, pattern):
        """A file of a short run of the app."""
        def write():
            out = self.folder / f"{app}-out"
            if not out.exists():
                self._must([self.campaign.programs[app], self.toml(app), "--quiet", "--out", out], codes=(0, 3))
            return next(iter(sorted(out.glob(pattern))))
        return self.make(f"{app}/{pattern}", write)

    def machine(self):
        return self._by_topo("machine.json", ["show", "--json"], takes_stdout=True)

    def placement(self):
        return self._by_topo("placement.json", ["map", "--pattern", "2d-2x2", "--fabric", "fat-tree", "--slots-per-host", 2, "--output",
                                                self.folder / "placement.json"])

    def probes(self):
        path = self.folder / "probes.json"
        return self._by_topo("probes.json", ["probe", "--no-gpus", "--output", path], ranks=2)

    def traffic(self):
        """What the recorder leaves of a run; None where this build has no recorder."""
        recorder = self.campaign.build / "lib/topo/profile/libselvage_profile.so"
        if not recorder.exists() or "jacobi" not in self.campaign.programs:
            return None
        def write():
            path = self.folder / "traffic.h5"
            self._must([*self.campaign.launcher, 2, "env", f"LD_PRELOAD={recorder}", f"SELVAGE_PROFILE_FILE={path}",
                        self.campaign.programs["jacobi"], "--set", "grid.cells=[16,16]", "--steps", 5, "--quiet", "--transport",
                        "mpi_staged", "--out", self.folder / "traffic-out"])
            return path if path.exists() else None
        return self.make("traffic.h5", write)

    def hdf5_samples(self):
        """sgd's data set in HDF5; None where the program of the tests that writes one isn't built."""
        writer = self.campaign.build / "tests/mpi/sgd/sgd_sample_data"
        if not writer.exists():
            return None
        def write():
            path = self.folder / "data.h5"
            self._must([writer, path])
            return path
        return self.make("data.h5", write)

    def _by_topo(self, name, arguments, ranks=1, takes_stdout=False):
        def write():
            launcher = [*self.campaign.launcher, ranks] if ranks > 1 else []
            job = self._must([*launcher, self.campaign.programs["topo"], *arguments])
            path = self.folder / name
            if takes_stdout:
                path.write_bytes(job.stdout())
            return path
        return self.make(name, write)

    def _must(self, command, codes=(0,)):
        is_launched = command[: len(self.campaign.launcher)] == self.campaign.launcher
        job = self.campaign.start(command, self.folder, {} if is_launched else ALONE, name="make")
        if not job.wait(300) or job.code not in codes:
            job.end()
            raise RuntimeError(f"a sample can't be made, exit code {job.code}: {' '.join(job.command)}\n"
                               f"{job.stderr().decode(errors='replace')}")
        return job

    def _write_idx(self):
        self.idx.mkdir()
        pixels = random.Random(1)
        for part, count in (("train", 96), ("t10k", 24)):
            labels = bytes(i % 4 for i in range(count))
            images = b"".join(pixels.randbytes(16) for _ in range(count))
            (self.idx / f"{part}-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + struct.pack(">I", count) + labels)
            (self.idx / f"{part}-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03" + struct.pack(">III", count, 4, 4) + images)
