#!/usr/bin/env bash
# rank_file_test.sh MPIRUN: an Open MPI rank file must put each rank on the cores that it names. Exit code 77 where this
# process may not use two cores.
set -euo pipefail
mpirun=$1
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
host=$(uname -n)

allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
if [ "$(nproc --all)" -lt 2 ] || [ "$allowed" != "0-$(($(nproc --all) - 1))" ]; then
  echo "skipped: not all of this machine's cores, at least two, may be used"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Backwards, which no default is.
printf 'rank 0=%s slot=1\nrank 1=%s slot=0\n' "$host" "$host" >"$work/rankfile"
"$mpirun" --rankfile "$work/rankfile" -n 2 "$tree/scripts/bind.sh" true 2>"$work/bindings" || {
  cat "$work/bindings" >&2
  exit 1
}
found=$(sed -nE 's/^bind.sh: rank ([0-9]+), .* cores (.*)$/\1:\2/p' "$work/bindings" | sort | paste -sd' ')
[ "$found" = "0:1 1:0" ] || {
  echo "rank_file_test.sh: found $found instead of 0:1 1:0" >&2
  exit 1
}
echo "passed: ranks are on the cores that the rank file names"
