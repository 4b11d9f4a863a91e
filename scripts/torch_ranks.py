"""What benchmarks of PyTorch on several GPUs share: a process per GPU, numbers of all of them, and times."""
import contextlib
import dataclasses
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time
import typing

import records

SWITCHES = {
    # A program that dies with multicast can take the switch down.
    "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
    "NCCL_NVLS_ENABLE": "0",
    # PyTorch's own condition for capturing DistributedDataParallel.
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": "0",
}
# Before torch and NCCL are loaded.
os.environ.update(SWITCHES)

try:
    import torch
    import torch.distributed as dist
except ImportError as import_error:
    sys.exit(f"{sys.argv[0]}: error: {sys.executable} has no {import_error.name}")


@contextlib.contextmanager
def joined(rank, gpus, rendezvous):
    """This process on its GPU, among the others; gives a group whose members talk by way of the hosts."""
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{rendezvous}", rank=rank, world_size=gpus,
                            device_id=torch.device("cuda", rank))
    control = dist.new_group(backend="gloo")
    yield control
    torch.cuda.synchronize()
    dist.barrier(group=control)
    dist.destroy_process_group()


def spawn(run_rank, gpus, *arguments):
    """run_rank(rank, gpus, rendezvous, *arguments) in a process for each GPU."""
    with tempfile.TemporaryDirectory() as directory:
        torch.multiprocessing.spawn(run_rank, (gpus, f"{directory}/rendezvous", *arguments), nprocs=gpus)


def require_gpus(parser, gpus, least):
    if not least <= gpus <= torch.cuda.device_count():
        parser.error(f"--gpus {gpus}: from {least} to the {torch.cuda.device_count()} that torch finds here")


def everywhere(value, operation, control):
    """One number of all ranks, by way of the hosts."""
    tensor = torch.tensor([value], dtype=torch.float64)
    dist.all_reduce(tensor, operation, group=control)
    return tensor.item()


def known_values(count):
    """Of a rank, this times its number from 1 on; of all of them, known_sums(). Exact in fp32, whatever the order."""
    return torch.arange(count, device="cuda") % 97 + 1


def known_sums(count):
    ranks = dist.get_world_size()
    return (known_values(count) * (ranks * (ranks + 1) // 2)).float()


def seconds_per_call(call, count, control):
    """Of the slowest rank."""
    torch.cuda.synchronize()
    dist.barrier(group=control)
    start = time.perf_counter()
    for _ in range(count):
        call()
    torch.cuda.synchronize()
    return everywhere((time.perf_counter() - start) / count, dist.ReduceOp.MAX, control)


def captured(call, count=1):
    """A call that replays a graph of `count` calls, and returns what the last of them returned."""
    graph = torch.cuda.CUDAGraph()
    # NCCL's own threads call CUDA meanwhile.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        for _ in range(count):
            result = call()

    def replay():
        graph.replay()
        return result

    return replay


@dataclasses.dataclass
class Contender:
    """One of several ways to do the same work."""
    run: typing.Callable
    check: typing.Callable  # does the work and raises an error where it leaves something wrong
    units: int = 1          # of work that one call of run() does; times are per unit


def settings():
    """Versions, and what is switched off here."""
    versions = [f"NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}", f"CUDA runtime {torch.version.cuda}",
                *driver_lines()]
    switches = [f"{name}={os.environ[name]}" for name in SWITCHES]
    return f"{', '.join(versions)}, {' '.join(switches)} (no NVLink multicast)"


def driver_lines():
    """What the kernel says of the GPU's driver, where it does."""
    path = pathlib.Path("/proc/driver/nvidia/version")
    return [" ".join(path.read_text().splitlines()[0].split())] if path.exists() else []


def figure(name, contenders, control, rounds=11, batch_seconds=1e-3):
    """A record of contenders {name: Contender}, of which the first is the figure's.

    They are timed in turns, in another order each round, and checked before and after: `verified` is set here alone.
    """
    counts = {}
    for which, contender in contenders.items():
        contender.check()
        seconds_per_call(contender.run, 5, control)
        counts[which] = max(1, int(batch_seconds / seconds_per_call(contender.run, 5, control)))
    times = {which: [] for which in contenders}
    for turn in range(rounds):
        order = list(contenders)
        random.Random(turn).shuffle(order)  # alike on all ranks
        for which in order:
            contender = contenders[which]
            times[which].append(seconds_per_call(contender.run, counts[which], control) / contender.units * 1e6)
    for contender in contenders.values():
        contender.check()
    first, *others = contenders
    value = statistics.median(times[first])
    gpus = dist.get_world_size()
    return {"name": name, "value": value, "unit": "us", "better": "lower",
            "peers": {which: statistics.median(times[which]) for which in others}, "choice": first, "verified": True,
            "repetitions": rounds, "spread": (max(times[first]) - min(times[first])) / value,
            "commit": records.commit_here(), "version": f"torch {torch.__version__}",
            "hardware": os.environ.get("SELVAGE_HARDWARE") or f"{gpus}x{torch.cuda.get_device_name()}",
            "order": "contenders shuffled in each round, alike on all ranks", "settings": settings()}
