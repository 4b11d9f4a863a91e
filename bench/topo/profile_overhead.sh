#!/usr/bin/env bash
# What the recorder of MPI traffic costs a halo loop of two ranks; see halo_loop.c. The rows "none" are the same
# without a recorder, which shows how far the ratios can be trusted. usage: profile_overhead.sh [BUILD_DIR]
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:-$repository/build/serial}" && pwd)
recorder=$build/lib/topo/profile/libselvage_profile.so
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

[ -e "$recorder" ] || {
  echo "profile_overhead.sh: there is no $recorder" >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mpicc -O3 -march=native -o halo_loop "$repository/bench/topo/halo_loop.c" -ldl

echo "| field per rank | recorder | us/iteration | recorded | ratio | median of ratios |"
echo "|---|---|---|---|---|---|"
for case in "0 5000" "128 500" "256 100" "512 25"; do
  read -r cells iterations <<<"$case"
  for preload in "" "$recorder"; do
    mpirun -n 2 env "LD_PRELOAD=$preload" "SELVAGE_PROFILE_FILE=$work/profile.h5" ./halo_loop "$cells" "$iterations" |
      awk -v cells="$cells" -v name="${preload:+yes}" \
        '{ printf "| %d^2 | %s | %s | %s | %s | %s |\n", cells, name == "" ? "none" : name, $1, $2, $3, $4 }'
  done
done
