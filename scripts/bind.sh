#!/usr/bin/env bash
# bind.sh [--one-gpu] PROGRAM ARGUMENT...: says on standard error where this rank runs, then becomes the program.
# --one-gpu: shows the program one GPU only, the one of its turn on this host. Without it nothing is set.
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
cores=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)

# visible_gpus: one per line, as CUDA numbers them or as CUDA_VISIBLE_DEVICES names them
visible_gpus() {
  if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
    tr ',' '\n' <<<"$CUDA_VISIBLE_DEVICES"
  else
    nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null || true
  fi
}

if [ "${1:-}" = --one-gpu ]; then
  shift
  mapfile -t gpus < <(visible_gpus)
  if [ ${#gpus[@]} -gt 0 ] && [ "$local_rank" != unknown ]; then
    export CUDA_VISIBLE_DEVICES=${gpus[local_rank % ${#gpus[@]}]}
  fi
fi
if [ $# -eq 0 ]; then
  echo "usage: bind.sh [--one-gpu] PROGRAM ARGUMENT..." >&2
  exit 2
fi

echo "bind.sh: rank $rank, node $node, local rank $local_rank, gpu ${CUDA_VISIBLE_DEVICES:-any}, cores $cores" >&2
exec "$@"
