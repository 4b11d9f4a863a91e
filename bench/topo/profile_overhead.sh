#!/usr/bin/env bash
# What the recorder of MPI traffic costs a halo loop: runs with and without it take turns. Prints the ratio of the
# fastest runs, which others on the machine disturb least, and that of the medians.
# usage: profile_overhead.sh [BUILD_DIR] [REPETITIONS]
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:-$repository/build/serial}" && pwd)
repetitions=${2:-11}
recorder=$build/lib/topo/profile/libselvage_profile.so
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

[ -e "$recorder" ] || { echo "profile_overhead.sh: there is no $recorder" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mpicc -O3 -march=native -o halo_loop "$repository/bench/topo/halo_loop.c"

# loop CELLS ITERATIONS [VARIABLE=VALUE...]
loop() {
  local cells=$1 iterations=$2
  shift 2
  mpirun -n 2 env "$@" ./halo_loop "$cells" "$iterations"
}

fastest() { sort -g "$1" | head -n 1; }
median() { sort -g "$1" | sed -n "$(((repetitions + 1) / 2))p"; }

for case in "0 20000" "128 2000" "256 500" "512 100"; do
  read -r cells iterations <<<"$case"
  : >plain
  : >profiled
  for ((i = 0; i < repetitions; ++i)); do
    loop "$cells" "$iterations" >>plain
    loop "$cells" "$iterations" "LD_PRELOAD=$recorder" "SELVAGE_PROFILE_FILE=$work/profile.h5" >>profiled
  done
  awk -v cells="$cells" -v plain="$(fastest plain)" -v profiled="$(fastest profiled)" \
    -v plain_median="$(median plain)" -v profiled_median="$(median profiled)" 'BEGIN {
      printf "%d^2 cells per rank: %.3f us/iteration, recorded %.3f, ratio %.4f (of the medians %.4f)\n",
        cells, plain, profiled, profiled / plain, profiled_median / plain_median }'
done
