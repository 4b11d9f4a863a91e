#!/usr/bin/env python3
"""Times PyTorch's fp32 sums in place beside each other: NCCL, and symmetric memory's one-shot and two-shot kernels.

scripts/bench_torch_allreduce.py --gpus 4 --records FILE.json writes records with the names of bench_allreduce's, each size
eager and as a CUDA graph of 20 calls, which scripts/plot.py draws beside ours. One process per GPU; NVLink multicast is
never used.
"""

import argparse
import json
import pathlib
import statistics

# First: it sets what torch and NCCL look at when they are loaded.
import torch_ranks
import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

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


def verify(name, call, values, control):
    """Sums of these are exact, whatever their order."""
    values.copy_(torch_ranks.known_values(values.numel()) * (dist.get_rank() + 1))
    torch.cuda.synchronize()
    dist.barrier(group=control)
    result = call()
    torch.cuda.synchronize()
    wrong = int((result != torch_ranks.known_sums(values.numel())).sum())
    wrong = torch_ranks.everywhere(wrong, dist.ReduceOp.SUM, control)
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


def measure(calls, units, control):
    """{name: microseconds per unit, round by round}, in turns."""
    counts = {}
    for name, call in calls.items():
        torch_ranks.seconds_per_call(call, 5, control)
        counts[name] = max(1, int(BATCH_SECONDS / torch_ranks.seconds_per_call(call, 5, control)))
    rounds = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            rounds[name].append(torch_ranks.seconds_per_call(call, counts[name], control) / units * 1e6)
    return rounds


def record(name, rounds, gpus, size):
    medians = {contender: statistics.median(times) for contender, times in rounds.items()}
    value = medians.pop(BASELINE)
    return {"name": name, "value": value, "unit": "us", "better": "lower", "peers": medians, "choice": BASELINE,
            "algorithm": "torch", "bus_GB/s": 2 * (gpus - 1) / gpus * size / value * 1e-3, "verified": True,
            "repetitions": ROUNDS, **torch_ranks.origin(gpus),
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
    with torch_ranks.joined(rank, gpus, rendezvous) as control:
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, default=torch.cuda.device_count(), help="how many of this host's (all)")
    parser.add_argument("--records", type=pathlib.Path, required=True, metavar="FILE.json")
    arguments = parser.parse_args()
    torch_ranks.require_gpus(parser, arguments.gpus, 2)
    torch_ranks.spawn(run_rank, arguments.gpus, arguments.records)


if __name__ == "__main__":
    main()
