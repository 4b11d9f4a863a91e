"""Starts programs, and ends them and all that they started: nothing else."""

import os
import pathlib
import signal
import subprocess
import time
import uuid

# The programs remark on variables with their own prefix that nothing reads.
VARIABLE = "CAMPAIGN_JOB"
POLL_S = 0.05
# A process that was killed ends when the kernel gets round to it, on a busy machine late.
END_S = 60
# MPI looks at the machine through hwloc, whose plugins start the OpenCL and the X server that there are: OpenCL for processors (PoCL)
# aborts where threads can't have their stacks within the limit of memory.
WITHOUT_DRIVERS = {"HWLOC_COMPONENTS": "-opencl,-gl"}
# A rank without a launcher otherwise starts a daemon of its own, which takes longer than the program.
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1"}


class Job:
    """A command in a session of its own. Launchers give each rank a process group, and daemons leave their parents, so that
    what belongs to the job is known by a variable of its environment, with a value that no other job has."""

    def __init__(self, command, folder, environment, name="run", memory_mb=0):
        self.command = [str(part) for part in command]
        self.mark = f"{VARIABLE}={uuid.uuid4().hex}"
        self.stdout_path = folder / f"{name}.stdout"
        self.stderr_path = folder / f"{name}.stderr"
        name_of_mark, value = self.mark.split("=")
        limited = self.command
        if memory_mb:
            environment = {**environment, **WITHOUT_DRIVERS}
            limited = ["bash", "-c", f'ulimit -v {memory_mb * 1024}; ulimit -c 0; exec "$@"', "limited", *self.command]
        with open(self.stdout_path, "wb") as out, open(self.stderr_path, "wb") as err:
            self.process = subprocess.Popen(
                limited, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder, start_new_session=True,
                env={**os.environ, **environment, name_of_mark: value})

    def ended(self):
        return self.process.poll() is not None

    @property
    def code(self):
        """As a shell has it: 128 and the signal."""
        code = self.process.returncode
        return code if code is None or code >= 0 else 128 - code

    def wait(self, seconds):
        """Whether it ended in time."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def wait_until(self, condition, seconds):
        """Until the condition holds; False where the job ended or the time is over before."""
        end = time.monotonic() + seconds
        while not condition():
            if self.ended() or time.monotonic() > end:
                return False
            time.sleep(POLL_S)
        return True

    def processes(self):
        """Those that run and have this job's mark."""
        mark = self.mark.encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    if (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                        found.append(int(entry.name))
            except OSError:
                continue
        return found

    def rank_pids(self, program):
        """The process of each rank that runs the program, by rank."""
        ranks = {}
        wanted = os.path.realpath(program)
        for pid in self.processes():
            try:
                if os.readlink(f"/proc/{pid}/exe") != wanted:
                    continue
                for setting in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    name, _, value = setting.partition(b"=")
                    if name in (b"OMPI_COMM_WORLD_RANK", b"PMI_RANK"):
                        ranks[int(value)] = pid
            except OSError:
                continue
        return ranks

    def left_behind(self, seconds):
        """Processes of the job that still run so long after its end."""
        end = time.monotonic() + seconds
        while (left := self.processes()) and time.monotonic() < end:
            time.sleep(POLL_S)
        return left

    def end(self):
        """Kills what is left of the job."""
        limit = time.monotonic() + END_S
        # Looks twice: a process shows no environment for a moment while it executes another program.
        looks_without_any = 0
        while looks_without_any < 2:
            left = self.processes()
            looks_without_any = 0 if left or not self.ended() else looks_without_any + 1
            if time.monotonic() > limit:
                raise RuntimeError(f"processes {left} can't be ended")
            for pid in left:
                send(pid, signal.SIGKILL)
            time.sleep(POLL_S)

    def stdout(self):
        return self.stdout_path.read_bytes()

    def stderr(self):
        return self.stderr_path.read_bytes()


def send(pid, number):
    """The signal; a process that has just ended gets none."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
