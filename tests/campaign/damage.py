"""Damaged input of every kind. A case chooses, damages and says what to start; what must hold then is the same for all."""

import shutil

import checks
import mutations
from processes import ALONE
from samples import CSV, SCOTCH, TOPOLOGY, VARIABLES

HANG_S = 180


def damaged_copy(random, source, folder, is_text):
    copy = folder / f"damaged-{source.name}"
    copy.write_bytes(mutations.mutated(random, source.read_bytes(), is_text))
    return copy


def toml(campaign, random, app, folder):
    inputs = sorted((campaign.inputs / app).glob("*.toml")) + 3 * [campaign.samples.toml(app)]
    path = damaged_copy(random, random.choice(inputs), folder, is_text=True)
    return [path, "--check"], {}


def restart(campaign, random, app, folder):
    good = campaign.samples.of_run(app, "checkpoint_*.h5" if app == "sgd" else "restart_*.h5")
    path = damaged_copy(random, good, folder, is_text=False)
    return [campaign.samples.toml(app), "--restart", path, "--steps", 5, *random.choice([[], ["--check"]])], {}


def state(campaign, random, app, folder):
    is_text = random.random() < 0.5
    good = campaign.samples.lammps() if is_text else campaign.samples.of_run("md", "trajectory_*.h5")
    path = damaged_copy(random, good, folder, is_text)
    return ["--state", path, "--set", "velocity.temperature=1.0", "--set", "pair.cutoff=2.0", "--steps", 2,
            *random.choice([[], ["--check"]])], {}


def idx(campaign, random, app, folder):
    copy = folder / "idx"
    shutil.copytree(campaign.samples.idx, copy)
    victim = random.choice(sorted(copy.iterdir()))
    data = bytearray(victim.read_bytes())
    # Pixels can't be wrong, so the header gets half of the damage.
    if random.random() < 0.5:
        data[random.randrange(16 if "images" in victim.name else 8)] = random.randrange(256)
        victim.write_bytes(data)
    else:
        victim.write_bytes(mutations.mutated(random, bytes(data), is_text=False))
    return [campaign.samples.toml(app), "--data", copy, "--steps", 2], {}


def data(campaign, random, app, folder):
    path = damaged_copy(random, campaign.samples.hdf5_samples(), folder, is_text=False)
    return ["--data", path, "--set", "model.hidden=[8]", "--set", "train.batch=27", "--set", "train.grain=4", "--set",
            "run.timed_steps=0", "--steps", 2], {}


def variables(campaign, random, app, folder):
    chosen = random.sample(sorted(VARIABLES), random.randint(1, 3))
    damaged = {name: mutations.mutated_argument(random, VARIABLES[name]) for name in chosen}
    return [campaign.samples.toml(app), "--steps", 3], damaged


def arguments(campaign, random, app, folder):
    command = [str(campaign.samples.toml(app)), "--steps", "3", "--initiation", "queue", "--transport", "mpi_staged", "--ranks-grid",
               "1x1" if app == "jacobi" else "1x1x1", "--set", "run.breakdown=true"]
    for _ in range(random.randint(1, 2)):
        at = random.randrange(1, len(command))
        command[at] = mutations.mutated_argument(random, command[at])
    return [*command, "--check"], {}


def traffic(campaign, random, app, folder):
    is_text = random.random() < 0.5 or campaign.samples.traffic() is None
    good = campaign.samples.text("traffic.csv", CSV) if is_text else campaign.samples.traffic()
    path = damaged_copy(random, good, folder, is_text)
    if is_text:
        path = path.rename(path.with_suffix(".csv"))
    return random.choice([["profile", "--traffic", path], ["map", "--traffic", path, "--fabric", "fat-tree"]]), {}


def machine(campaign, random, app, folder):
    kinds = [campaign.samples.machine(), *sorted((campaign.inputs.parent / "tests/unit/topo/samples").glob("*.xml"))]
    path = damaged_copy(random, random.choice(kinds), folder, is_text=True)
    return random.choice([["show", "--from", path], ["map", "--pattern", "2d-2x1", "--fabric", f"machine:{path}"]]), {}


def placement(campaign, random, app, folder):
    path = damaged_copy(random, campaign.samples.placement(), folder, is_text=True)
    return ["rankfile", "--placement", path, "--format", random.choice(["openmpi", "slurm", "mpich", "gpus", "cores"])], {}


def fabric(campaign, random, app, folder):
    kind = random.choice(["probed", "slurm", "scotch"])
    good = {"probed": campaign.samples.probes, "slurm": lambda: campaign.samples.text("topology.conf", TOPOLOGY),
            "scotch": lambda: campaign.samples.text("fabric.tgt", SCOTCH)}[kind]()
    path = damaged_copy(random, good, folder, is_text=True)
    return ["map", "--pattern", "2d-2x1", "--fabric", f"{kind}:{path}"], {}


def job_files(campaign, random, app, folder):
    """Lists of cores, which bind.sh may find useless but must survive."""
    path = damaged_copy(random, campaign.samples.text("cores", "0\n1\n0-1\n"), folder, is_text=True)
    return ["--cores", path, "true"], {"OMPI_COMM_WORLD_RANK": str(random.randrange(4))}


CASES = {
    "jacobi": (toml, restart, variables, arguments),
    "md": (toml, restart, state, variables, arguments),
    "sgd": (toml, restart, idx, data, variables, arguments),
    "topo": (traffic, machine, placement, fabric),
    "bind": (job_files,),
}


def cases_of(campaign, app):
    return [case for case in CASES[app] if case is not data or campaign.samples.hdf5_samples() is not None]


def damage(campaign, random, app, folder):
    """The problems that one damaged input shows."""
    arguments_of_case, environment = random.choice(cases_of(campaign, app))(campaign, random, app, folder)
    program = [campaign.programs[app]] if app != "bind" else ["bash", campaign.programs["bind"]]
    out = ["--quiet", "--out", folder / "out"] if app in ("jacobi", "md", "sgd") else []
    job = campaign.start([*program, *arguments_of_case, *out], folder, {**ALONE, **environment},
                         memory_mb=campaign.memory_mb)
    if not job.wait(HANG_S):
        return [f"it runs for more than {HANG_S} s"]
    name = {"topo": "selvage-topo", "bind": "bind.sh"}.get(app, app)
    problems = list(checks.exit_problems(job, name, (0, 1, 2, 3)))
    if left := job.left_behind(5):
        problems.append(f"processes {left} are left")
    return problems
