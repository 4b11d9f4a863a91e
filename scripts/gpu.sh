#!/usr/bin/env bash
# Builds the cuda preset on a host with GPUs, tests, sanitizes and measures it.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<EOF
usage: scripts/gpu.sh [OUT]   (out/gpu)

Writes OUT/<benchmark>-<ranks>rank.json and OUT/results.md. One process per GPU; SELVAGE_HARDWARE names the machine in the
records (default: the number and name of its GPUs).
EOF
}

# A kernel that spins must not outlive its turn.
limited() { timeout --kill-after=10 "$@"; }

run_ranks() {
  local ranks=$1
  shift
  limited 300 mpirun --oversubscribe -n "$ranks" "$@"
}

hardware() {
  nvidia-smi --query-gpu=name --format=csv,noheader | sed 's/NVIDIA //; s/ /-/g' | sort | uniq -c |
    awk '{ printf "%sx%s", $1, $2 }'
}

# One at a time, so that ranks have GPUs of their own. The other tests are about hosts.
test_gpus() {
  limited 600 ctest --preset cuda --parallel 1 --tests-regex '^(gpu\.|comm\.halo\.conformance.*np[1248]$)'
}

sanitize() {
  local tool
  for tool in memcheck racecheck; do
    limited 200 compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 9 \
      mpirun --oversubscribe -n 2 build/cuda/tests/mpi/comm/test_comm_halo_conformance_2d --gtest_filter='*/0*'
  done
}

# The oracles, solved on GPUs.
solve() {
  local gpus=$1 input
  for input in dirichlet public-sample heat3d; do
    run_ranks "$gpus" build/cuda/apps/jacobi/jacobi "inputs/jacobi/$input.toml" --verify --out "out/gpu-$input" |
      grep -E '^(VERIFY|FOM|  rank 1)'
  done
}

measure() {
  local out=$1 gpus=$2 ranks
  for ranks in 2 4 8; do
    [ "$ranks" -le "$gpus" ] || continue
    run_ranks "$ranks" build/cuda/bench/comm/bench_halo --benchmark_color=false \
      --selvage_records="$out/bench_halo-${ranks}rank.json"
  done
  "$repository/scripts/table.py" "$out"/*.json >"$out/results.md"
  cat "$out/results.md"
}

main() {
  case ${1:-} in
    --help | -h)
      usage
      return
      ;;
    -*)
      usage >&2
      exit 2
      ;;
  esac
  command -v nvidia-smi >/dev/null || fail "no nvidia-smi: this is not a host with GPUs"
  local out gpus
  out=$(realpath -m "${1:-$repository/out/gpu}")
  mkdir -p "$out"
  gpus=$(nvidia-smi --list-gpus | wc -l)
  export SELVAGE_HARDWARE=${SELVAGE_HARDWARE:-$(hardware)}
  # NVLink multicast stays off: a program that dies with it can take the switch down.
  export NCCL_NVLS_ENABLE=0 NVSHMEM_DISABLE_NVLS=1 TORCH_SYMM_MEM_DISABLE_MULTICAST=1
  configure_and_build cuda
  step "test" test_gpus
  step "sanitize" sanitize
  step "solve" solve "$gpus"
  step "measure" measure "$out" "$gpus"
}

main "$@"
