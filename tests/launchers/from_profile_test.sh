#!/usr/bin/env bash
# from_profile_test.sh RECORDER SELVAGE_TOPO MPIRUN PROGRAM ARGUMENT...: a program is profiled in the default order, mapped to
# this machine and to two hosts, and run again where selvage-topo says, by nothing but its files. Exit code 77 where the
# program isn't there or this process may not use two cores.
set -euo pipefail
recorder=$1 topo=$2 mpirun=$3
shift 3
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

command -v "$1" >/dev/null || {
  echo "skipped: there is no $1"
  exit 77
}
allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
if [ "$(nproc --all)" -lt 2 ] || [ "$allowed" != "0-$(($(nproc --all) - 1))" ]; then
  echo "skipped: not all of this machine's cores, at least two, may be used"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "from_profile_test.sh: $*" >&2
  exit 1
}

# logged COMMAND...: what it prints is of interest only if it fails
logged() { "$@" >log 2>&1 || fail "$(cat log)"; }

# total FILE QUANTITY: what a profile says of host memory in all
total() {
  "$topo" profile --traffic "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["host"][sys.argv[1]])' "$2"
}

logged "$mpirun" -n 2 env "LD_PRELOAD=$recorder" SELVAGE_PROFILE_FILE="$work/before.h5" "$@"
[ "$(total before.h5 bytes)" -gt 0 ] || fail "the profile holds no traffic"

logged "$mpirun" --bind-to none -n 2 "$topo" map --traffic before.h5 --fabric job --output placed.json
grep -q '^cores: unknown: ' log && fail "no cores to map to: $(cat log)"
logged "$topo" rankfile --placement placed.json --format openmpi --output ranks
logged "$topo" rankfile --placement placed.json --format cores --output cores

logged "$mpirun" --rankfile ranks -n 2 "$tree/scripts/bind.sh" \
  env "LD_PRELOAD=$recorder" SELVAGE_PROFILE_FILE="$work/after.h5" "$@"
found=$(sed -nE 's/^bind.sh: rank ([0-9]+), .* cores (.*)$/\1 \2/p' log | sort -n)
[ "$found" = "$(awk '{ print NR - 1, $1 }' cores)" ] || fail "ranks are on $found, not on $(cat cores)"
[ "$(total after.h5 messages)" -gt 0 ] || fail "nothing was sent where selvage-topo put the ranks"
echo "passed: $(basename "$1") runs where its profile says: $(tr '\n' ';' <ranks)"
