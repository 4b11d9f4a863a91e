#!/usr/bin/env bash
# Builds the cuda preset on a host with GPUs, tests, sanitizes, measures and tunes it.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<EOF
usage: scripts/gpu.sh [--as-built] [--tests REGEX] [OUT]   (out/gpu)

Runs all tests, sanitizes the kernels that wait, solves the oracles, measures by scripts/figures.sh, which writes to OUT, and tunes:
OUT/tuned/allreduce.json. One process per GPU.

  --tests REGEX  run the tests whose names match, one at a time, and nothing else
  --as-built     take build/cuda as it is, for hosts without compilers
EOF
}

# A kernel that spins must not outlive its turn.
limited() { timeout --kill-after=10 "$@"; }

run_ranks() {
  local ranks=$1
  shift
  limited 300 mpirun --oversubscribe --bind-to none -n "$ranks" "$@"
}

# tested NAME SECONDS CTEST_ARGUMENT...: then says what was skipped. The log is kept, since ctest's next run overwrites it.
tested() {
  local log=build/cuda/Testing/Temporary/$1.log limit=$2 status=0
  shift 2
  limited "$limit" ctest --preset cuda "$@" || status=$?
  cp build/cuda/Testing/Temporary/LastTest.log "$log"
  echo "skipped:"
  "$repository/scripts/skipped.py" "$log" | sed 's/^/  /'
  return "$status"
}

# Tests that wait for ranks run one at a time, so that these have GPUs of their own.
run_tests() {
  local waiting='^(gpu|comm\.(allreduce|buckets|conformance|halo|hosts|lists|list_halo|messages|port|stress|timeouts|triggered|typed_transfer)|jacobi|md|sgd|examples)\.'
  tested others 600 --parallel "$jobs" --exclude-regex "$waiting"
  tested waiting 1800 --parallel 1 --tests-regex "$waiting"
}

# Forced, mpi_direct is an error where MPI isn't found to take GPU memory; the suites would leave it out.
test_gpu_aware_mpi() {
  SELVAGE_TRANSPORT=mpi_direct with_gpu_aware_mpi run_ranks 2 build/cuda/apps/jacobi/jacobi \
    inputs/jacobi/public-sample.toml --verify --out out/gpu-aware | grep -E '^(VERIFY|FOM)'
  local suites='^(comm\.(triggered\.hosts_2x2|conformance|halo|timeouts|hosts\.hosts_2x2)(\.|$).*np[24]|jacobi\.bits|md\.oracles)$'
  with_gpu_aware_mpi tested gpu_aware 600 --parallel 1 --tests-regex "$suites"
  # With CUDA IPC, MPI carries nothing that kernels wait for.
  UCX_TLS=^cuda_ipc with_gpu_aware_mpi tested gpu_aware_without_ipc 600 --parallel 1 --tests-regex "$suites"
  expect_mpi_direct build/cuda/Testing/Temporary/gpu_aware_without_ipc.log
}

# expect_mpi_direct LOG: its cases ran, and none was skipped.
expect_mpi_direct() {
  if "$repository/scripts/skipped.py" "$1" | grep 'mpi_direct'; then fail "these were skipped, though MPI takes GPU memory"; fi
  grep -q '\[       OK \] [^ ]*mpi_direct' "$1" || fail "no case of mpi_direct ran: $1"
}

sanitize() {
  local tool
  for tool in memcheck racecheck; do
    sanitize_with "$tool" test_comm_conformance 'HaloConformance2D*/0*'
    sanitize_with "$tool" test_comm_port 'HaloPort*Parcels*:HaloPort*Store*'
    sanitize_with "$tool" test_comm_allreduce '*OfDoubles/one_shot*:*OfDoubles/two_shot*:*OfDoubles/multi_ring*:*OfDoubles/recursive_doubling_ll*'
    sanitize_with "$tool" test_comm_buckets 'GradientBuckets*HoweverTheyAreCut:GradientBuckets*InPlace*:TiledAllreduce*'
    sanitize_with "$tool" test_comm_lists '*ListHalos*/chosen_named:*ListHalos*/queue:*Migrations*/chosen_named'
    sanitize_with "$tool" test_comm_port 'ListPorts*FillGhosts*:ListPorts*Gathers'
    sanitize_with "$tool" test_comm_typed_transfer '*'
    sanitize_with "$tool" test_comm_triggered 'Triggers*:*/Triggers*:CommandQueue*:*/CommandQueue*'
  done
}

# sanitize_with TOOL TEST FILTER
sanitize_with() {
  limited 200 compute-sanitizer --tool "$1" --target-processes all --error-exitcode 9 \
    mpirun --oversubscribe --bind-to none -n 2 "build/cuda/tests/mpi/comm/$2" --gtest_filter="$3"
}

# The oracles, solved on GPUs.
solve() {
  local gpus=$1 input
  for input in dirichlet public-sample heat3d; do
    run_ranks "$gpus" build/cuda/apps/jacobi/jacobi "inputs/jacobi/$input.toml" --verify --out "out/gpu-$input" |
      grep -E '^(VERIFY|FOM|  rank 1)'
  done
}

# The tables lie beside the records, not among them: one file for all numbers of ranks.
tune() {
  local out=$1 ranks
  shift
  for ranks in "$@"; do
    run_ranks "$ranks" build/cuda/lib/comm/selvage-tune --out "$out/tuned/allreduce.json"
  done
}

main() {
  local tests='' prepare=configure_and_build as_built=()
  while [[ ${1:-} == -* ]]; do
    case $1 in
      --help | -h)
        usage
        return
        ;;
      --as-built)
        prepare=use_built
        as_built=(--as-built)
        shift
        ;;
      --tests)
        tests=${2:?--tests needs a regular expression}
        shift 2
        ;;
      *)
        usage >&2
        exit 2
        ;;
    esac
  done
  command -v nvidia-smi >/dev/null || fail "no nvidia-smi: this is not a host with GPUs"
  local out gpus several
  out=$(realpath -m "${1:-$repository/out/gpu}")
  mkdir -p "$out"
  gpus=$(nvidia-smi --list-gpus | wc -l)
  prepare_gpus
  step "GPU-aware MPI" "$repository/scripts/deps.sh" --ucx
  "$prepare" cuda
  if [ -n "$tests" ]; then
    step "test" tested chosen 1800 --parallel 1 --tests-regex "$tests"
    return
  fi
  step "test" run_tests
  step "test over GPU-aware MPI" test_gpu_aware_mpi
  step "sanitize" sanitize
  step "solve" solve "$gpus"
  "$repository/scripts/figures.sh" "${as_built[@]}" "$out"
  mapfile -t several < <(up_to "$gpus" 2 4 8)
  step "tune allreduce" tune "$out" "${several[@]}"
}

main "$@"
