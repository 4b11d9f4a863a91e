#!/usr/bin/env bash
# bind.sh [--one-gpu] [--cores FILE] PROGRAM ARGUMENT...: says on standard error where this rank runs, then becomes the
# program.
# --one-gpu: shows the program one GPU only, the one of its turn on this host. Without it nothing is set.
# --cores FILE: puts rank n on the hardware threads that line n names (selvage-topo rankfile --format cores). What can't be
# done is said, and the launcher's choice stays.
set -euo pipefail

# first NAME...: the value of the first of these variables that is set
first() {
  local name
  for name in "$@"; do
    if [ -n "${!name:-}" ]; then
      echo "${!name}"
      return
    fi
  done
  echo unknown
}

# A launcher's own variables come before the batch system's, which describe the launcher's daemon.
rank=$(first OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK FLUX_TASK_RANK SLURM_PROCID)
local_rank=$(first OMPI_COMM_WORLD_LOCAL_RANK MPI_LOCALRANKID PALS_LOCAL_RANKID FLUX_TASK_LOCAL_ID SLURM_LOCALID)
node=${SLURMD_NODENAME:-$(uname -n)}
# visible_gpus: one per line, as CUDA numbers them or as CUDA_VISIBLE_DEVICES names them
visible_gpus() {
  if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
    tr ',' '\n' <<<"$CUDA_VISIBLE_DEVICES"
  else
    nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null || true
  fi
}

show_one_gpu() {
  local gpus
  mapfile -t gpus < <(visible_gpus)
  if [ ${#gpus[@]} -gt 0 ] && [ "$local_rank" != unknown ]; then
    export CUDA_VISIBLE_DEVICES=${gpus[local_rank % ${#gpus[@]}]}
  fi
}

# move_to_cores FILE
move_to_cores() {
  local cpus=
  if [ "$rank" != unknown ]; then
    cpus=$(sed -n "$((rank + 1))p" "$1" 2>/dev/null || true)
  fi
  if [ -z "$cpus" ]; then
    echo "bind.sh: $1 names no cores for rank $rank: they stay as they are" >&2
  # taskset counts up to the number of a thread, however large.
  elif ! [[ $cpus =~ ^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$ ]] ||
    ! taskset --cpu-list --pid "$cpus" $$ >/dev/null 2>&1; then
    # What stands in a file may be anything: control characters are not for a terminal.
    cpus=${cpus//[^[:print:]]/?}
    echo "bind.sh: rank $rank can't run on ${cpus:0:80}, as $1 says: its cores stay as they are" >&2
  fi
}

usage() {
  echo "usage: bind.sh [--one-gpu] [--cores FILE] PROGRAM ARGUMENT..." >&2
  exit 2
}

while [[ ${1:-} == --* ]]; do
  case $1 in
    --one-gpu) show_one_gpu ;;
    --cores)
      [ $# -ge 2 ] || usage
      move_to_cores "$2"
      shift
      ;;
    *) usage ;;
  esac
  shift
done
[ $# -gt 0 ] || usage
cores=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)

echo "bind.sh: rank $rank, node $node, local rank $local_rank, gpu ${CUDA_VISIBLE_DEVICES:-any}, cores $cores" >&2
exec "$@"
