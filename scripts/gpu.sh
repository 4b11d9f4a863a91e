#!/usr/bin/env bash
# Builds the cuda preset on a host with GPUs, tests, sanitizes and measures it.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<EOF
usage: scripts/gpu.sh [--as-built] [--figures REGEX | --tests REGEX] [OUT]   (out/gpu)

Writes OUT/<benchmark>-<ranks>gpu.json, OUT/results.md and OUT/tuned/allreduce.json (by selvage-tune), and in
OUT/topology what selvage-topo shows and measures. One process per GPU.

  --figures REGEX  build the benchmarks only and measure those whose names match
  --tests REGEX    run the tests whose names match, one at a time, and nothing else
  --as-built       take build/cuda as it is, for hosts without compilers

SELVAGE_HARDWARE names the machine in the records (default: the number and name of its GPUs), SELVAGE_BENCHMARKS the programs
that measure (default: $all_benchmarks).
EOF
}

all_benchmarks="selvage-topo bench_latency bench_tasks bench_copies bench_halo bench_allreduce bench_overlap bench_jacobi bench_md bench_sgd"
read -ra benchmarks <<<"${SELVAGE_BENCHMARKS:-$all_benchmarks}"
is_wanted() { [[ " ${benchmarks[*]} " == *" $1 "* ]]; }

# A kernel that spins must not outlive its turn.
limited() { timeout --kill-after=10 "$@"; }

run_ranks() {
  local ranks=$1
  shift
  limited 300 mpirun --oversubscribe --bind-to none -n "$ranks" "$@"
}

hardware() {
  nvidia-smi --query-gpu=name --format=csv,noheader | sed 's/NVIDIA //; s/ /-/g' | sort | uniq -c |
    awk '{ printf "%sx%s", $1, $2 }'
}

# Tests that wait for ranks run one at a time, so that these have GPUs of their own.
run_tests() {
  local waiting='^(gpu|comm\.(allreduce|buckets|conformance|halo|hosts|lists|list_halo|messages|port|stress|timeouts|triggered|typed_transfer)|jacobi|md|sgd|examples)\.'
  limited 600 ctest --preset cuda --parallel "$jobs" --exclude-regex "$waiting"
  limited 1800 ctest --preset cuda --parallel 1 --tests-regex "$waiting"
}

# Forced, mpi_direct is an error where MPI isn't found to take GPU memory; the suites would leave it out.
test_gpu_aware_mpi() {
  SELVAGE_TRANSPORT=mpi_direct with_gpu_aware_mpi run_ranks 2 build/cuda/apps/jacobi/jacobi \
    inputs/jacobi/public-sample.toml --verify --out out/gpu-aware | grep -E '^(VERIFY|FOM)'
  local suites='^comm\.(triggered\.hosts_2x2|conformance|halo|timeouts|hosts\.hosts_2x2)(\.|$).*np[24]$'
  with_gpu_aware_mpi limited 600 ctest --preset cuda --parallel 1 --tests-regex "$suites"
  # With CUDA IPC, MPI carries nothing that kernels wait for.
  UCX_TLS=^cuda_ipc with_gpu_aware_mpi limited 600 ctest --preset cuda --parallel 1 --tests-regex "$suites"
}

sanitize() {
  local tool
  for tool in memcheck racecheck; do
    sanitize_with "$tool" test_comm_conformance 'HaloConformance2D*/0*'
    sanitize_with "$tool" test_comm_port 'HaloPort*Parcels*:HaloPort*Store*'
    sanitize_with "$tool" test_comm_allreduce '*OfDoubles/one_shot*:*OfDoubles/two_shot*:*OfDoubles/multi_ring*'
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

# measure_with OUT FILTER BENCHMARK FOLDER RANKS...
measure_with() {
  local out=$1 filter=$2 benchmark=$3 folder=$4 ranks
  shift 4
  is_wanted "$benchmark" || return 0
  for ranks in "$@"; do
    with_gpu_aware_mpi run_ranks "$ranks" "build/cuda/bench/$folder/$benchmark" --benchmark_color=false \
      --benchmark_filter="$filter" --selvage_records="$out/$benchmark-${ranks}gpu.json"
  done
}

# up_to GPUS RANKS...: those that have a GPU each
up_to() {
  local gpus=$1 ranks
  shift
  for ranks in "$@"; do
    [ "$ranks" -gt "$gpus" ] || echo "$ranks"
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

has_torch() { python3 -c 'import sys, torch; sys.exit(torch.cuda.device_count() < 2)' 2>/dev/null; }

# measure_torch OUT NAME RANKS...: what PyTorch does with the same, by scripts/bench_torch_NAME.py; it has no part in
# anything else.
measure_torch() {
  local out=$1 name=$2 ranks
  shift 2
  for ranks in "$@"; do
    limited 600 python3 "$repository/scripts/bench_torch_$name.py" --gpus "$ranks" \
      --records "$out/bench_torch_$name-${ranks}gpu.json"
  done
}

without_torch() { echo "$script_name: warning: going on without torch's figures" >&2; }

# The machine and its links; apart from the records, as the tables are.
probe_links() {
  local out=$1/topology topo=build/cuda/lib/topo/selvage-topo
  is_wanted selvage-topo || return 0
  mkdir -p "$out"
  limited 60 "$topo" show --json >"$out/machine.json"
  limited 120 "$topo" probe --output "$out/probes.json" | tee "$out/probes.txt"
}

measure() {
  local out=$1 gpus=$2 filter=$3 several all reducing
  mapfile -t reducing < <(up_to "$gpus" 2 3 4 8)
  mapfile -t several < <(up_to "$gpus" 2 4 8)
  mapfile -t all < <(up_to "$gpus" 1 2 4 8)
  probe_links "$out"
  measure_with "$out" "$filter" bench_latency comm "${several[@]}"
  measure_with "$out" "$filter" bench_tasks comm "${several[@]}"
  measure_with "$out" "$filter" bench_copies comm "${several[@]}"
  measure_with "$out" "$filter" bench_halo comm "${several[@]}"
  # The built-in rule is what is measured, whatever table the user has.
  SELVAGE_ALLREDUCE_TABLE=off measure_with "$out" "$filter" bench_allreduce comm "${reducing[@]}"
  if is_wanted bench_allreduce && [[ allreduce/fp32 =~ $filter ]] && has_torch; then
    measure_torch "$out" allreduce "${several[@]}" || without_torch
  fi
  measure_with "$out" "$filter" bench_overlap comm "${reducing[@]}"
  measure_with "$out" "$filter" bench_jacobi jacobi "${all[@]}"
  measure_with "$out" "$filter" bench_md md "${all[@]}"
  SELVAGE_ALLREDUCE_TABLE=off measure_with "$out" "$filter" bench_sgd sgd "${all[@]}"
  if is_wanted bench_sgd && [[ sgd/ =~ $filter || $filter == sgd* ]] && has_torch; then
    measure_torch "$out" ddp "${all[@]}" || without_torch
  fi
  "$repository/scripts/table.py" "$out"/*.json >"$out/results.md"
  cat "$out/results.md"
}

# use_built PRESET [TARGET]...: in place of configure_and_build
use_built() {
  cd "$repository"
  [ -d "build/$1" ] || fail "--as-built: there is no build/$1"
  use_dependencies "$1"
}

main() {
  local figures='' tests='' prepare=configure_and_build
  while [[ ${1:-} == -* ]]; do
    case $1 in
      --help | -h)
        usage
        return
        ;;
      --as-built)
        prepare=use_built
        shift
        ;;
      --figures)
        figures=${2:?--figures needs a regular expression}
        shift 2
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
  [ -z "$figures" ] || [ -z "$tests" ] || fail "--figures and --tests exclude each other"
  command -v nvidia-smi >/dev/null || fail "no nvidia-smi: this is not a host with GPUs"
  local out gpus several
  out=$(realpath -m "${1:-$repository/out/gpu}")
  mkdir -p "$out"
  gpus=$(nvidia-smi --list-gpus | wc -l)
  export SELVAGE_HARDWARE=${SELVAGE_HARDWARE:-$(hardware)}
  # NVLink multicast stays off: a program that dies with it can take the switch down.
  export NCCL_NVLS_ENABLE=0 NVSHMEM_DISABLE_NVLS=1 TORCH_SYMM_MEM_DISABLE_MULTICAST=1
  # Halos by proxy are refused otherwise.
  export CUDA_MODULE_LOADING=EAGER
  step "GPU-aware MPI" "$repository/scripts/deps.sh" --ucx
  if [ -n "$figures" ]; then
    "$prepare" cuda "${benchmarks[@]}"
    step "measure" measure "$out" "$gpus" "$figures"
    return
  fi
  "$prepare" cuda
  if [ -n "$tests" ]; then
    step "test" limited 1800 ctest --preset cuda --parallel 1 --tests-regex "$tests"
    return
  fi
  step "test" run_tests
  step "test over GPU-aware MPI" test_gpu_aware_mpi
  step "sanitize" sanitize
  step "solve" solve "$gpus"
  step "measure" measure "$out" "$gpus" .
  mapfile -t several < <(up_to "$gpus" 2 4 8)
  step "tune allreduce" tune "$out" "${several[@]}"
}

main "$@"
