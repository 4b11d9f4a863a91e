#!/usr/bin/env bash
# mpich_test.sh LAUNCHER: MPICH's own launcher must follow a list of cores, rank by rank, as bind.sh sees it. Exit
# code 77 where this process may not use two cores.
set -euo pipefail
unset OMP_NUM_THREADS  # nproc believes it
launcher=$1
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

[ "$(nproc)" -ge 2 ] || {
  echo "skipped: this takes two cores"
  exit 77
}
found=$("$launcher" -n 2 -bind-to user:1,0 "$tree/scripts/bind.sh" true 2>&1 |
  sed -nE 's/^bind.sh: rank ([0-9]+), .* local rank ([0-9]+), .* cores (.*)$/\1:\2:\3/p' | sort | paste -sd' ')
[ "$found" = "0:0:1 1:1:0" ] || {
  echo "mpich_test.sh: found '$found' instead of '0:0:1 1:1:0'" >&2
  exit 1
}
echo "passed: ranks are on the cores of the list"
