"""Endless runs of the mini-apps, with a rank that is killed or stopped or a link that breaks, and what is left of them."""

import dataclasses
import pathlib
import re
import signal
import time

import checks
from processes import ALONE, send

TIMEOUT_MS, SETUP_TIMEOUT_MS, IO_TIMEOUT_MS = 2000, 20000, 5000
# Launchers, and a machine that does other things as well, take their time.
SLACK_S = 60
GOING_S = 120
ENDLESS = 1_000_000_000
MOST_EPOCHS = 1_000_000
ROWS_IN = {"jacobi": "norms.csv", "md": "thermo.csv", "sgd": "steps.csv"}
APPS = tuple(ROWS_IN)

LIMITS = {
    "SELVAGE_TIMEOUT_MS": str(TIMEOUT_MS),
    "SELVAGE_SETUP_TIMEOUT_MS": str(SETUP_TIMEOUT_MS),
    "SELVAGE_IO_TIMEOUT_MS": str(IO_TIMEOUT_MS),
}
BOUND_S = (TIMEOUT_MS + SETUP_TIMEOUT_MS + IO_TIMEOUT_MS) / 1000 + SLACK_S


@dataclasses.dataclass
class Run:
    """An app with settings that a restart repeats."""

    app: str
    ranks: int
    settings: list
    ways: list

    def arguments(self, out, steps, with_ways=True):
        length = ["--set", f"train.epochs={MOST_EPOCHS}"] if self.app == "sgd" else []
        if self.app != "sgd" or steps != ENDLESS:
            length += ["--steps", steps]
        return [*self.settings, *(self.ways if with_ways else []), *length, "--quiet", "--out", out]


def settings(pairs):
    return [part for key, value in pairs.items() for part in ("--set", f"{key}={value}")]


def random_run(random, app, samples):
    often = random.choice([1, 2, 5, 20, 100])
    if app == "jacobi":
        cells = random.choice(["[48,48]", "[24,36]", "[12,12,16]"])
        chosen = {"grid.cells": cells, "run.norm_every": random.choice([1, 10, 100]), "restart.every": 10 * often,
                  "output.fields_every": random.choice([0, 20 * often])}
    elif app == "md":
        chosen = {"system.cells": "[8,8,8]", "restart.every": often, "output.thermo_every": random.choice([1, 5, 20]),
                  "output.trajectory_every": random.choice([0, often]),
                  "list.rebuild": random.choice(["fixed", "displacement"])}
    else:
        chosen = {"data.path": samples.idx, "model.hidden": "[16]", "train.batch": 24, "train.grain": 4,
                  "run.timed_steps": 0, "restart.every": 10 * often, "comm.reduce": random.choice(["ordered", "fast"])}
    initiation = random.choice(["host", "stream", "queue", "kernel"])
    transport = random.choice(["auto", "peer", "mpi_direct", "mpi_staged"])
    # Of lists no kernel starts messages, and no proxy what kernels can do themselves.
    if app == "md" and (initiation, transport) in [("kernel", "mpi_direct"), ("kernel", "mpi_staged"), ("queue", "peer")]:
        transport = "auto"
    ways = ["--initiation", initiation, "--transport", transport]
    if app == "sgd":
        ways = []
    return Run(app, random.randint(2, 4), settings(chosen), ways)


def rows(out, app):
    path = out / ROWS_IN[app]
    return path.read_bytes().count(b"\n") if path.exists() else 0


def newest_restart(out):
    """Its path and its step."""
    found = [(int(match[1]), path) for path in out.glob("*.h5")
             if (match := re.fullmatch(r"(?:restart|checkpoint)_(\d+)\.h5", path.name))]
    return max(found) if found else (0, None)


def start(campaign, run, folder):
    program = campaign.programs[run.app]
    return campaign.start([*campaign.launcher, run.ranks, program, *run.arguments(folder / "out", ENDLESS)], folder, LIMITS)


def early_problems(job, app):
    """The run ended by itself, which it may only where a busy machine makes ranks late."""
    said = checks.messages(job.stderr(), app)
    if job.code != 1 or not any("timeout" in message or "waited" in message or "given up" in message for message in said):
        yield f"an endless run ended by itself with exit code {job.code}"


def files_problems(campaign, run, folder):
    """Files that are there are whole, and the newest restart file can be continued from."""
    out = folder / "out"
    if not out.exists():
        return
    for path in sorted(out.glob("*.h5")):
        if problem := checks.hdf5_problem(path):
            yield problem
    step, newest = newest_restart(out)
    if newest is None:
        return
    arguments = run.arguments(folder / "continued", step + 1, with_ways=False)
    job = campaign.start([campaign.programs[run.app], *arguments, "--restart", newest], folder, ALONE, name="continued")
    if not job.wait(SLACK_S + 60):
        yield f"the run continued from {newest.name} does not end"
    elif job.code != 0:
        yield f"the run continued from {newest.name} ended with exit code {job.code}"


def end_problems(job, folder_of_job):
    """Of a job whose other ranks must notice."""
    if not job.wait(BOUND_S):
        yield f"the job goes on after {BOUND_S:.0f} s"
        return
    if job.code == 0:
        yield "exit code 0"
    if left := job.left_behind(10):
        yield f"processes {left} are left"
    yield from (p for p in checks.output_problems(job.stderr()) if "control" not in p)


def with_victim(campaign, random, app, folder, strike):
    """Starts a run, lets strike(job, run, victim) hit one of its ranks at a random time, and returns the problems found, or None
    where the run had ended before."""
    run = random_run(random, app, campaign.samples)
    in_start = strike is kill and random.random() < 0.25
    wait_s = random.uniform(0, 1.0 if in_start else 2.0)
    victim = random.randrange(run.ranks)
    job = start(campaign, run, folder)
    program = campaign.programs[app]
    if in_start:
        going = job.wait_until(lambda: len(job.rank_pids(program)) == run.ranks, GOING_S)
    else:
        going = job.wait_until(lambda: rows(folder / "out", app) > 3, GOING_S)
    if not going and not job.ended():
        return [f"the run did not get going in {GOING_S} s"]
    time.sleep(wait_s)
    pid = None if job.ended() else job.rank_pids(program).get(victim)
    if pid is None:
        job.wait(BOUND_S)
        problems = list(early_problems(job, app))
        return problems or None
    return list(strike(campaign, job, run, folder, victim, pid))


def kill(campaign, job, run, folder, victim, pid):
    send(pid, signal.SIGKILL)
    yield from end_problems(job, folder)
    yield from files_problems(campaign, run, folder)


def stop(campaign, job, run, folder, victim, pid):
    send(pid, signal.SIGSTOP)
    yield from end_problems(job, folder)
    said = checks.messages(job.stderr(), run.app)
    if len(said) != 1:
        yield f"{len(said)} messages"
    if not any(checks.names_rank(message, victim) for message in said):
        yield f"no message names rank {victim}, which was stopped"
    yield from files_problems(campaign, run, folder)


def cut(campaign, random, app, folder):
    """A run on two hosts whose link breaks, and is mended later: before the limit, and then the run may go on, or well after it."""
    run = random_run(random, app, campaign.samples)
    per_host = random.randint(1, 2)
    cut_after_s, mended_after_s = random.uniform(0, 2), random.choice([random.uniform(0.1, 1.0), 2 * TIMEOUT_MS / 1000 + 8])
    out = folder / "out"
    command = ["bash", pathlib.Path(__file__).with_name("cut.sh"), out / ROWS_IN[app], f"{cut_after_s:.2f}",
               f"{mended_after_s:.2f}", per_host, campaign.programs[app], *run.arguments(out, ENDLESS)]
    job = campaign.start(command, folder, LIMITS)
    if not job.wait(GOING_S + 2 * BOUND_S):
        return ["the job goes on"]
    said = checks.messages(job.stderr(), app)
    problems = [p for p in checks.output_problems(job.stderr()) if "control" not in p]
    goes_on = b"cut.sh: it goes on" in job.stderr()
    if goes_on and mended_after_s * 1000 > TIMEOUT_MS:
        problems.append("no rank noticed that the link was cut")
    if not goes_on and job.code == 0:
        problems.append("exit code 0")
    if not goes_on and not any(re.search(r"\brank", message) for message in said):
        problems.append("no message names a rank")
    return problems + list(files_problems(campaign, run, folder))


