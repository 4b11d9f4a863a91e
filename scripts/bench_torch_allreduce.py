#!/usr/bin/env python3
"""Times PyTorch's fp32 sums in place beside each other: NCCL, and symmetric memory's one-shot and two-shot kernels.

scripts/bench_torch_allreduce.py --gpus 4 --records FILE.json writes records with the names of bench_allreduce's, each size
eager and as a CUDA graph of 20 calls, which scripts/plot.py draws beside ours. One process per GPU; NVLink multicast is
never used.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

# Before torch and NCCL are loaded: a program that dies with multicast can take the switch down.
os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"
os.environ["NCCL_NVLS_ENABLE"] = "0"

try:
    import torch
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symm_mem
except ImportError as import_error:
    sys.exit(f"bench_torch_allreduce.py: error: {sys.executable} has no {import_error.name}")

ROUNDS = 11
CALLS_PER_GRAPH = 20
BATCH_SECONDS = 1e-3
MOST_ONE_SHOT_BYTES = 1 << 20
SIZES = [1 << shift for shift in range(10, 31, 2)]  # 1 KB to 1 GB
BASELINE = "torch NCCL"


def contenders(values, group_name):
    """{name: call}; each call returns the sums."""
    def by_nccl():
        dist.all_reduce(values)
        return values

    calls = {BASELINE: by_nccl}
    if values.nbytes <= MOST_ONE_SHOT_BYTES:
        calls["torch one_shot"] = lambda: torch.ops.symm_mem.one_shot_all_reduce(values, "sum", group_name)
    calls["torch two_shot"] = lambda: torch.ops.symm_mem.two_shot_all_reduce_(values, "sum", group_name)
    return calls


def everywhere(value, operation, control):
    """One number of all ranks, by way of the hosts."""
    tensor = torch.tensor([value], dtype=torch.float64)
    dist.all_reduce(tensor, operation, group=control)
    return tensor.item()


def verify(name, call, values, control):
    """Sums of these are exact, whatever their order."""
    pattern = torch.arange(values.numel(), device=values.device) % 97 + 1
    values.copy_(pattern * (dist.get_rank() + 1))
    torch.cuda.synchronize()
    dist.barrier(group=control)
    result = call()
    torch.cuda.synchronize()
    ranks = dist.get_world_size()
    wrong = int((result != (pattern * (ranks * (ranks + 1) // 2)).float()).sum())
    wrong = everywhere(wrong, dist.ReduceOp.SUM, control)
    if wrong > 0:
        raise RuntimeError(f"{name} leaves {wrong:.0f} wrong elements of {values.nbytes} bytes")
    # Sums of zeros stay zeros, however many calls follow each other.
    values.zero_()
    torch.cuda.synchronize()


def captured(call):
    """Replays a graph of several calls."""
    graph = torch.cuda.CUDAGraph()
    # NCCL's own threads call CUDA meanwhile.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        for _ in range(CALLS_PER_GRAPH):
            call()
    return graph.replay


def time_batch(call, count, control):
    """Seconds per call, of the slowest rank."""
    torch.cuda.synchronize()
    dist.barrier(group=control)
    start = time.perf_counter()
    for _ in range(count):
        call()
    torch.cuda.synchronize()
    return everywhere((time.perf_counter() - start) / count, dist.ReduceOp.MAX, control)


def measure(calls, units, control):
    """{name: microseconds per unit, round by round}, in turns."""
    counts = {}
    for name, call in calls.items():
        time_batch(call, 5, control)
        counts[name] = max(1, int(BATCH_SECONDS / time_batch(call, 5, control)))
    rounds = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            rounds[name].append(time_batch(call, counts[name], control) / units * 1e6)
    return rounds


def record(name, rounds, gpus, size):
    medians = {contender: statistics.median(times) for contender, times in rounds.items()}
    value = medians.pop(BASELINE)
    return {"name": name, "value": value, "unit": "us", "better": "lower", "peers": medians, "choice": BASELINE,
            "algorithm": "torch", "bus_GB/s": 2 * (gpus - 1) / gpus * size / value * 1e-3, "verified": True,
            "commit": f"torch {torch.__version__}", "repetitions": ROUNDS,
            "hardware": os.environ.get("SELVAGE_HARDWARE") or f"{gpus}x{torch.cuda.get_device_name()}",
            "spread": (max(rounds[BASELINE]) - min(rounds[BASELINE])) / value}


def measure_size(values, gpus, control):
    size = values.nbytes
    calls = contenders(values, dist.group.WORLD.group_name)
    for name, call in calls.items():
        verify(name, call, values, control)
    name = f"allreduce/fp32/{gpus}gpu/{size}"
    graphs = {contender: captured(call) for contender, call in calls.items()}
    return [record(name, measure(calls, 1, control), gpus, size),
            record(f"{name}/graph", measure(graphs, CALLS_PER_GRAPH, control), gpus, size)]


def run_rank(rank, gpus, rendezvous, path):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{rendezvous}", rank=rank, world_size=gpus,
                            device_id=torch.device("cuda", rank))
    control = dist.new_group(backend="gloo")
    memory = symm_mem.empty(SIZES[-1] // 4, dtype=torch.float32, device=f"cuda:{rank}")
    symm_mem.rendezvous(memory, dist.group.WORLD.group_name)
    records = []
    for size in SIZES:
        records += measure_size(memory[:size // 4], gpus, control)
        if rank == 0:
            latest = records[-2]
            print(f"{latest['name']}: {latest['value']:.3g} us, {latest['peers']}", flush=True)
    if rank == 0:
        path.write_text(json.dumps(records, indent=2) + "\n")
    dist.barrier(group=control)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, default=torch.cuda.device_count(), help="how many of this host's (all)")
    parser.add_argument("--records", type=pathlib.Path, required=True, metavar="FILE.json")
    arguments = parser.parse_args()
    if not 2 <= arguments.gpus <= torch.cuda.device_count():
        parser.error(f"--gpus {arguments.gpus}: from 2 to the {torch.cuda.device_count()} that torch finds here")
    with tempfile.TemporaryDirectory() as directory:
        torch.multiprocessing.spawn(run_rank, (arguments.gpus, f"{directory}/rendezvous", arguments.records),
                                    nprocs=arguments.gpus)


if __name__ == "__main__":
    main()
