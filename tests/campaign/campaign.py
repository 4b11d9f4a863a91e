#!/usr/bin/env python3
"""Kills and stops ranks, cuts links and damages inputs at random, and says what the programs made of it.

    tests/campaign/campaign.py --build build/serial --seconds 3600      # an hour; another seed each time
    tests/campaign/campaign.py --build build/serial --seed 7 --only 12  # try 12 of the campaign 7 again

kill    a rank of an endless run dies: the job ends in time and not with 0, nothing is left of it, files are whole, the newest
        restart file can be continued from
stop    a rank hangs: the same, and the one message names it
damage  inputs, variables and arguments with damage: exit code 0 to 3, one message, no signal, no hang, no control characters
hosts   the link between two network namespaces breaks, and is mended: ranks notice, or go on. As root; not by default

A line for each failing try, at the end a table; exit code 1 where any failed. A run that ended before it was hit counts as early.
"""

import argparse
import os
import pathlib
import random
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import damage
import processes
import runs
import samples

KINDS = ("kill", "stop", "damage", "hosts")
# Damaged inputs take a tenth of the time.
WEIGHTS = {"kill": 1, "stop": 1, "damage": 12, "hosts": 1}
# Libraries below MPI start a thread per core, each with a stack and a heap of its own.
MEMORY_MB_PER_CORE = 256
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false", "KOKKOS_DISABLE_WARNINGS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "SELVAGE_ALLREDUCE_TABLE": "off", "SELVAGE_PROBES": "off",
    "HDF5_USE_FILE_LOCKING": "FALSE", "OMPI_MCA_mpi_yield_when_idle": "1",
}


class Campaign:
    def __init__(self, options):
        self.build, self.inputs = options.build, options.inputs
        self.launcher, self.memory_mb = shlex.split(options.launcher), options.memory_mb
        tree = pathlib.Path(__file__).resolve().parents[2]
        places = {app: self.build / "apps" / app / app for app in runs.APPS}
        places["topo"] = self.build / "lib/topo/selvage-topo"
        places["bind"] = tree / "scripts/bind.sh"
        self.programs = {name: path for name, path in places.items() if path.exists()}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="campaign-"))
        self.jobs = []
        self.keeps = False
        self.samples = samples.Samples(self)

    def start(self, command, folder, environment, name="run", memory_mb=0):
        # What Open MPI leaves of killed ranks goes with the folder.
        temporary = {"TMPDIR": str(folder), "OMPI_MCA_btl_vader_backing_directory": str(folder)}
        job = processes.Job(command, folder, {**ENVIRONMENT, **temporary, **environment}, name, memory_mb)
        self.jobs.append(job)
        return job

    def end_jobs(self):
        for job in self.jobs:
            job.end()
        self.jobs.clear()


def parse_arguments():
    tree = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=None, help="of all that is drawn (default: another one each time)")
    parser.add_argument("--seconds", type=float, default=60, help="no try is begun later (default: 60)")
    parser.add_argument("--tries", type=int, default=None, help="at most so many")
    parser.add_argument("--only", type=int, default=None, metavar="N", help="this try alone")
    parser.add_argument("--kinds", default="kill,stop,damage", help="of " + ",".join(KINDS))
    parser.add_argument("--apps", default=None, help="of jacobi,md,sgd,topo,bind (default: all that are built)")
    parser.add_argument("--build", type=lambda text: pathlib.Path(text).resolve(), default=tree / "build/serial")
    parser.add_argument("--inputs", type=lambda text: pathlib.Path(text).resolve(), default=tree / "inputs")
    parser.add_argument("--launcher", default=f"{shlex.quote(str(tree))}/tests/support/launch.sh mpirun -x OMPI_MCA_orte_execute_quiet=1 "
                        "--oversubscribe --bind-to none -n",
                        help="the number of ranks comes next")
    parser.add_argument("--memory-mb", type=int, default=4096 + MEMORY_MB_PER_CORE * (os.cpu_count() or 1),
                        help="address space for damaged inputs; 0: no limit, for sanitizers")
    parser.add_argument("--keep", action="store_true", help="keep the folders of failing tries")
    options = parser.parse_args()
    options.kinds = options.kinds.split(",")
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"unknown kinds: {', '.join(sorted(unknown))}")
    if options.seed is None:
        options.seed = secrets.randbelow(10**6)
    return options, parser


def hosts_refusal():
    """Why there can't be two hosts here; empty where there can."""
    script = pathlib.Path(__file__).resolve().parents[1] / "support/two_hosts.sh"
    command = ["bash", "-c", f"source {shlex.quote(str(script))}; two_hosts_refusal"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def draw(seed, number, kinds, apps):
    """What try `number` is. Depends on nothing else, so that it can be repeated."""
    chance = random.Random(f"{seed}/{number}")
    possible = [kind for kind in kinds if kind == "damage" or set(apps) & set(runs.APPS)]
    kind = chance.choices(possible, [WEIGHTS[kind] for kind in possible])[0]
    return chance, kind, chance.choice([app for app in apps if kind == "damage" or app in runs.APPS])


def attempt(campaign, chance, kind, app, folder):
    """The problems of one try; None where it could not be made."""
    try:
        if kind == "damage":
            return damage.damage(campaign, chance, app, folder)
        if kind == "hosts":
            return runs.cut(campaign, chance, app, folder)
        return runs.with_victim(campaign, chance, app, folder, {"kill": runs.kill, "stop": runs.stop}[kind])
    finally:
        campaign.end_jobs()


def printable(text):
    """Whatever a program has said, or was given: bytes that are no UTF-8, too."""
    return text.encode("unicode_escape").decode()


def report(options, apps, number, kind, app, problems, command, stderr):
    again = f"--seed {options.seed} --only {number} --kinds {','.join(options.kinds)} --apps {','.join(apps)}"
    print(f"FAILED: try {number}, {kind} {app}: {'; '.join(problems)}", flush=True)
    print(f"    again: {sys.argv[0]} --build {options.build} {again}")
    print(f"    command: {printable(command)}")
    for line in stderr.decode(errors="backslashreplace").splitlines()[:40]:
        print(f"    | {printable(line)}")
    sys.stdout.flush()


def run_tries(campaign, options, apps, counts):
    end, number = time.monotonic() + options.seconds, options.only or 0
    while time.monotonic() < end and (options.tries is None or number < options.tries):
        chance, kind, app = draw(options.seed, number, options.kinds, apps)
        folder = campaign.folder / str(number)
        folder.mkdir()
        started = []
        start = campaign.start

        def start_and_note(command, at, environment, **more):
            job = start(command, at, environment, **more)
            started.append((["env", *(f"{name}={value}" for name, value in environment.items()), *command], job))
            return job

        campaign.start = start_and_note
        try:
            problems = attempt(campaign, chance, kind, app, folder)
        finally:
            campaign.start = start
        row = counts.setdefault((kind, app), [0, 0, 0])
        row[0] += 1
        row[1] += problems is None
        row[2] += bool(problems)
        if problems:
            # Of all programs: a run that can't be continued, and the one that was to continue it, which says why.
            command, said = started[-1][0], b"".join(job.stderr() for _, job in started)
            report(options, apps, number, kind, app, problems, shlex.join(str(part) for part in command), said)
        if problems and options.keep:
            campaign.keeps = True
        else:
            shutil.rmtree(folder)
        if options.only is not None:
            break
        number += 1


def print_table(counts):
    print(f"\n{'kind':8} {'app':8} {'tries':>6} {'early':>6} {'failures':>8}")
    for (kind, app), row in sorted(counts.items()):
        print(f"{kind:8} {app:8} {row[0]:6} {row[1]:6} {row[2]:8}")
    total = [sum(row[i] for row in counts.values()) for i in range(3)]
    print(f"{'all':8} {'':8} {total[0]:6} {total[1]:6} {total[2]:8}")
    return total


def main():
    options, parser = parse_arguments()
    if "hosts" in options.kinds and (reason := hosts_refusal()):
        print(f"skipped: no two hosts can be made: {reason}")
        options.kinds.remove("hosts")
        if not options.kinds:
            return 77
    campaign = Campaign(options)
    try:
        apps = options.apps.split(",") if options.apps else list(campaign.programs)
        if missing := set(apps) - set(campaign.programs):
            parser.error(f"{options.build} has no {', '.join(sorted(missing))}")
        print(f"campaign: seed {options.seed}, {', '.join(options.kinds)} of {', '.join(apps)}", flush=True)
        counts = {}
        try:
            run_tries(campaign, options, apps, counts)
        finally:
            # Of an interrupted campaign, too.
            total = print_table(counts)
    finally:
        campaign.end_jobs()
        if campaign.keeps:
            print(f"failing tries are kept in {campaign.folder}")
        else:
            shutil.rmtree(campaign.folder, ignore_errors=True)
    return 1 if total[2] or not total[0] else 0


if __name__ == "__main__":
    # An interrupted campaign leaves nothing behind either.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
