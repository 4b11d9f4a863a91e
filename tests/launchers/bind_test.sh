#!/usr/bin/env bash
# bind_test.sh: bind.sh must read the ranks of each launcher, pass the program's exit code on, and leave the GPUs alone
# unless it is asked to choose one.
set -euo pipefail
bind=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/scripts/bind.sh
failures=0

# expect TEXT VARIABLE=VALUE... -- ARGUMENT...: what bind.sh prints, and the GPUs that the program sees
expect() {
  local wanted=$1 environment=() found
  shift
  while [ "$1" != -- ]; do
    environment+=("$1")
    shift
  done
  shift
  # shellcheck disable=SC2016 # for the program's shell
  found=$(env -i "PATH=$PATH" "${environment[@]}" "$bind" "$@" sh -c 'echo "sees ${CUDA_VISIBLE_DEVICES-any}"' 2>&1)
  if ! grep -qE "$wanted" <<<"$(tr '\n' ' ' <<<"$found")"; then
    echo "bind_test.sh: '$found' doesn't match '$wanted'" >&2
    failures=$((failures + 1))
  fi
}

expect 'rank 3, .* local rank 1, gpu any, .*sees any' OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_LOCAL_RANK=1 \
  SLURM_PROCID=0 SLURM_LOCALID=0 SLURMD_NODENAME=n7 --
expect 'rank 5, node n7, local rank 2, ' SLURM_PROCID=5 SLURM_LOCALID=2 SLURMD_NODENAME=n7 --
expect 'rank 6, .* local rank 0, ' PMI_RANK=6 MPI_LOCALRANKID=0 SLURM_PROCID=1 SLURM_LOCALID=1 --
expect 'rank 2, .* local rank 2, ' FLUX_TASK_RANK=2 FLUX_TASK_LOCAL_ID=2 --
expect 'rank unknown, .* local rank unknown, ' A=B --
expect 'gpu 6, .*sees 6' OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_LOCAL_RANK=3 CUDA_VISIBLE_DEVICES=4,6 -- --one-gpu
expect 'gpu 4,6, .*sees 4,6' OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_LOCAL_RANK=3 CUDA_VISIBLE_DEVICES=4,6 --

# --cores: where ranks are put, and what is said where they can't be.
first_cpu=$(sed -nE 's/^Cpus_allowed_list:[[:space:]]*([0-9]+).*/\1/p' /proc/self/status)
lists=$(mktemp)
trap 'rm -f "$lists"' EXIT
printf '%s\n4095\n' "$first_cpu" >"$lists"
expect "rank 0, .* cores $first_cpu sees" PMI_RANK=0 -- --cores "$lists"
expect "rank 0, .* gpu 6, cores $first_cpu sees 6" PMI_RANK=0 MPI_LOCALRANKID=0 CUDA_VISIBLE_DEVICES=6 -- --cores "$lists" --one-gpu
expect "rank 1 can't run on 4095, as .*: its cores stay .* rank 1, " PMI_RANK=1 -- --cores "$lists"
echo 9223372036854775807.1 >"$lists.large"
expect "rank 0 can't run on 9223372036854775807.1, as .* rank 0, " PMI_RANK=0 -- --cores "$lists.large"
# Control characters of a damaged file don't reach the terminal.
printf '\020j\033\n' >"$lists.damaged"
expect "rank 0 can't run on [?]j[?], as .* rank 0, " PMI_RANK=0 -- --cores "$lists.damaged"
rm -f "$lists.damaged"
rm -f "$lists.large"
expect 'names no cores for rank 2: they stay .* rank 2, ' PMI_RANK=2 -- --cores "$lists"
expect '/none names no cores for rank 0: ' PMI_RANK=0 -- --cores /none
expect 'names no cores for rank unknown: ' A=B -- --cores "$lists"

status=0
"$bind" sh -c 'exit 5' 2>/dev/null || status=$?
[ "$status" -eq 5 ] || failures=$((failures + 1))
status=0
"$bind" --cores-of x true 2>/dev/null || status=$?
[ "$status" -eq 2 ] || failures=$((failures + 1))
[ "$failures" -eq 0 ]
