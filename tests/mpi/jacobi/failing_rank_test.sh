#!/usr/bin/env bash
# A rank that dies or hangs ends the run, and the files written so far can be continued from.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/ranks.sh"

# start RANKS ARGUMENT...: in the background; the launcher's process id in $launcher_pid.
start() {
  local ranks=$1
  shift
  # shellcheck disable=SC2086
  $LAUNCHER "$ranks" "$PROGRAM" --set "grid.cells=[48,48]" --steps 1000000000 --set output.fields=false --quiet "$@" \
    >"$scratch/output" 2>&1 </dev/null &
  launcher_pid=$!
}

has_rows() { [[ -f $1/norms.csv && $(wc -l <"$1/norms.csv") -gt $2 ]]; }

out=$scratch/killed
start 4 --set run.norm_every=1000 --set restart.every=1000 --out "$out"
wait_for 60 test -s "$out/restart_00003000.h5" || fail "the run did not get going"
kill -KILL "$(pid_of_rank 2)"
expect_end "a killed rank"
expect_success 2 --set "grid.cells=[48,48]" --set output.fields=false --restart "$out/restart_00003000.h5" --steps 3001 \
  --out "$scratch/continued" --compare-serial --quiet
expect_text "^VERIFY ok compare-serial" "continued after a killed rank"
has_rows "$out" 3 || fail "rows of norms.csv were lost"

# stop_a_rank SETTING...: rank 1 of three in a row hangs, and the message names it.
stop_a_rank() {
  out=$scratch/stopped
  rm -rf "$out"
  SELVAGE_TIMEOUT_MS=2000 SELVAGE_IO_TIMEOUT_MS=2000 start 3 "$@" --out "$out"
  wait_for 60 has_rows "$out" 5 || fail "the run did not get going: $*"
  kill -STOP "$(pid_of_rank 1)"
  expect_end "a stopped rank: $*"
  if [[ $code -ne 1 ]]; then fail "a stopped rank: exit code $code instead of 1: $*"; fi
  expect_text "^jacobi: error:.*rank 1" "the message does not name the late rank: $*"
  if [[ $(grep -c '^jacobi: error:' "$scratch/output") -ne 1 ]]; then fail "not exactly one message: $*"; fi
}
stop_a_rank --set run.norm_every=10
# Nearly always in a file, where ranks wait in MPI without a bound of its own.
stop_a_rank --set run.norm_every=1 --set restart.every=1
finish
