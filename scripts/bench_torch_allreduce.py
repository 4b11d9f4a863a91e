#!/usr/bin/env python3
"""Times PyTorch's fp32 sums in place beside each other: NCCL, and symmetric memory's one-shot and two-shot kernels.

scripts/bench_torch_allreduce.py --gpus 4 --records FILE.json writes records with the names of bench_allreduce's, each size
eager and as a CUDA graph of 20 calls, which scripts/plot.py draws beside ours. One process per GPU; NVLink multicast is
never used.
"""

import argparse
import functools
import json
import pathlib

# First: it sets what torch and NCCL look at when they are loaded.
import torch_ranks
import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

CALLS_PER_GRAPH = 20
MOST_ONE_SHOT_BYTES = 1 << 20
SIZES = [1 << shift for shift in range(10, 31, 2)]  # 1 KB to 1 GB
BASELINE = "torch NCCL"


def contenders(values, group_name):
    """{name: (call, whether the sums replace the values)}; each call returns the sums."""
    def by_nccl():
        dist.all_reduce(values)
        return values

    calls = {BASELINE: (by_nccl, True)}
    if values.nbytes <= MOST_ONE_SHOT_BYTES:
        calls["torch one_shot"] = (lambda: torch.ops.symm_mem.one_shot_all_reduce(values, "sum", group_name), False)
    calls["torch two_shot"] = (lambda: torch.ops.symm_mem.two_shot_all_reduce_(values, "sum", group_name), True)
    return calls


def verify(name, call, sums, values, control):
    """:param sums: how many times, one after the other, a call replaces the values by their sums"""
    count = values.numel()
    values.copy_(torch_ranks.known_values(count) * (dist.get_rank() + 1))
    torch.cuda.synchronize()
    dist.barrier(group=control)
    result = call()
    torch.cuda.synchronize()
    # Exact in whatever order, for 2, 4 and 8 ranks: after the first all add up the same few bits.
    right = torch_ranks.known_sums(count) * dist.get_world_size() ** (sums - 1)
    wrong = torch_ranks.everywhere(int((result != right).sum()), dist.ReduceOp.SUM, control)
    if wrong > 0:
        raise RuntimeError(f"{name} leaves {wrong:.0f} wrong elements of {values.nbytes} bytes")
    # Sums of zeros stay zeros, however many calls follow each other.
    values.zero_()
    torch.cuda.synchronize()


def measure_size(values, gpus, control):
    size = values.nbytes
    eager, graphs = {}, {}
    for name, (call, in_place) in contenders(values, dist.group.WORLD.group_name).items():
        eager[name] = torch_ranks.Contender(call, functools.partial(verify, name, call, 1, values, control))
        eager[name].check()  # what a capture needs is there after it
        graph = torch_ranks.captured(call, CALLS_PER_GRAPH)
        check = functools.partial(verify, f"{name}'s graph", graph, CALLS_PER_GRAPH if in_place else 1, values, control)
        graphs[name] = torch_ranks.Contender(graph, check, CALLS_PER_GRAPH)
    records = []
    for kind, ways in (("", eager), ("/graph", graphs)):
        record = torch_ranks.figure(f"allreduce/fp32/{gpus}gpu/{size}{kind}", ways, control)
        record["bus_GB/s"] = 2 * (gpus - 1) / gpus * size / record["value"] * 1e-3
        records.append({**record, "algorithm": "torch"})
    return records


def run_rank(rank, gpus, rendezvous, path):
    with torch_ranks.joined(rank, gpus, rendezvous) as control:
        memory = symm_mem.empty(SIZES[-1] // 4, dtype=torch.float32, device=f"cuda:{rank}")
        symm_mem.rendezvous(memory, dist.group.WORLD.group_name)
        records = []
        for size in SIZES:
            records += measure_size(memory[:size // 4], gpus, control)
            # A time limit takes nothing finished along.
            if rank == 0:
                path.write_text(json.dumps(records, indent=2) + "\n")
                latest = records[-2]
                print(f"{latest['name']}: {latest['value']:.3g} us, {latest['peers']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, default=torch.cuda.device_count(), help="how many of this host's (all)")
    parser.add_argument("--records", type=pathlib.Path, required=True, metavar="FILE.json")
    arguments = parser.parse_args()
    torch_ranks.require_gpus(parser, arguments.gpus, 2)
    torch_ranks.spawn(run_rank, arguments.gpus, arguments.records)


if __name__ == "__main__":
    main()
