#!/usr/bin/env bash
# A rank that dies or hangs ends the run, and the files written so far can be continued from.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"

# start ARGUMENT...: four ranks in the background; the launcher's process id in $launcher_pid.
start() {
  # shellcheck disable=SC2086
  $LAUNCHER 4 "$PROGRAM" --set "grid.cells=[48,48]" --steps 1000000000 --set output.fields=false --quiet "$@" \
    >"$scratch/output" 2>&1 </dev/null &
  launcher_pid=$!
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
  local tries=$(($1 * 20))
  shift
  while ! "$@"; do
    if ((tries-- == 0)); then return 1; fi
    sleep 0.05
  done
}

# descendants PID: it and all processes below it.
descendants() {
  echo "$1"
  local child
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do descendants "$child"; done
}

# pid_of_rank RANK: among the launcher's descendants, by what Open MPI or MPICH set in their environment.
pid_of_rank() {
  local pid
  for pid in $(descendants "$launcher_pid"); do
    if [[ $(readlink "/proc/$pid/exe") == "$(readlink -f "$PROGRAM")" ]] &&
      tr '\0' '\n' <"/proc/$pid/environ" | grep -qxE "(OMPI_COMM_WORLD_RANK|PMI_RANK)=$1"; then
      echo "$pid"
      return
    fi
  done
}

has_ended() { ! kill -0 "$launcher_pid" 2>/dev/null; }

expect_end() {
  if ! wait_for 60 has_ended; then
    fail "$1: the other ranks go on"
    kill -KILL "$launcher_pid"
  fi
  wait "$launcher_pid"
  code=$?
  if [[ $code -eq 0 ]]; then fail "$1: exit code 0"; fi
}

has_rows() { [[ -f $1/norms.csv && $(wc -l <"$1/norms.csv") -gt $2 ]]; }

out=$scratch/killed
start --set run.norm_every=1000 --set restart.every=1000 --out "$out"
wait_for 60 test -s "$out/restart_00003000.h5" || fail "the run did not get going"
kill -KILL "$(pid_of_rank 2)"
expect_end "a killed rank"
expect_success 2 --set "grid.cells=[48,48]" --set output.fields=false --restart "$out/restart_00003000.h5" --steps 3001 \
  --out "$scratch/continued" --compare-serial --quiet
expect_text "^VERIFY ok compare-serial" "continued after a killed rank"
has_rows "$out" 3 || fail "rows of norms.csv were lost"

out=$scratch/stopped
SELVAGE_TIMEOUT_MS=2000 start --set run.norm_every=10 --out "$out"
wait_for 60 has_rows "$out" 5 || fail "the run did not get going"
kill -STOP "$(pid_of_rank 2)"
expect_end "a stopped rank"
if [[ $code -ne 1 ]]; then fail "a stopped rank: exit code $code instead of 1"; fi
expect_text "^jacobi: error:.*rank 2" "the message does not name the late rank"
if [[ $(grep -c '^jacobi: error:' "$scratch/output") -ne 1 ]]; then fail "not exactly one message"; fi
finish
