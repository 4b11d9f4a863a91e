#!/usr/bin/env bash
# rank_file_test.sh MPIRUN SELVAGE_TOPO: an Open MPI rank file must put each rank on the cores that it names, and bind.sh
# each on those that a list of cores names. Exit code 77 where this process may not use two cores.
set -euo pipefail
mpirun=$1
topo=$2
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
host=$(uname -n)

allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
if [ "$(nproc --all)" -lt 2 ] || [ "$allowed" != "0-$(($(nproc --all) - 1))" ]; then
  echo "skipped: not all of this machine's cores, at least two, may be used"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect WHAT RANKS:CORES... COMMAND...: the cores that bind.sh names for each rank
expect() {
  local what=$1 wanted=$2 found
  shift 2
  "$@" true 2>"$work/bindings" || {
    cat "$work/bindings" >&2
    exit 1
  }
  found=$(sed -nE 's/^bind.sh: rank ([0-9]+), .* cores (.*)$/\1:\2/p' "$work/bindings" | sort | paste -sd' ')
  [ "$found" = "$wanted" ] || {
    echo "rank_file_test.sh: $what: found $found instead of $wanted" >&2
    exit 1
  }
}

# cpus_of RANK: as the placement says, on one line
cpus_of() { python3 -c 'import json, sys
print(",".join(map(str, json.load(open(sys.argv[1]))["ranks"][int(sys.argv[2])]["hardware_threads"])))' "$work/placed.json" "$1"; }

# Backwards, which no default is.
printf 'rank 0=%s slot=1\nrank 1=%s slot=0\n' "$host" "$host" >"$work/rankfile"
expect "a rank file" "0:1 1:0" "$mpirun" --rankfile "$work/rankfile" -n 2 "$tree/scripts/bind.sh"
printf '1\n0\n' >"$work/cores"
expect "a list of cores" "0:1 1:0" "$mpirun" -n 2 "$tree/scripts/bind.sh" --cores "$work/cores"

# What selvage-topo finds for this machine, where each rank has half of the cores.
"$mpirun" --bind-to none -n 2 "$topo" map --pattern 2d-2x1 --fabric job --output "$work/placed.json" >"$work/map"
grep -q '^cores: unknown: ' "$work/map" && {
  echo "skipped: $(grep '^cores: ' "$work/map")"
  exit 77
}
"$topo" rankfile --placement "$work/placed.json" --format openmpi --output "$work/rankfile"
"$topo" rankfile --placement "$work/placed.json" --format cores --output "$work/cores"
[ "$(nproc --all)" -ne 2 ] || [ "$(cpus_of 0) $(cpus_of 1)" = "0 1" ] || {
  echo "rank_file_test.sh: ranks of two cores are to go to $(cpus_of 0) and $(cpus_of 1)" >&2
  exit 1
}
wanted="0:$(sed -n 1p "$work/cores") 1:$(sed -n 2p "$work/cores")"
expect "selvage-topo's rank file" "$wanted" "$mpirun" --rankfile "$work/rankfile" -n 2 "$tree/scripts/bind.sh"
expect "selvage-topo's list of cores" "$wanted" "$mpirun" -n 2 "$tree/scripts/bind.sh" --cores "$work/cores"
echo "passed: ranks are on the cores that rank files and lists of cores name"
