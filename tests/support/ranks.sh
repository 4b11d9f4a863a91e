# shellcheck shell=bash disable=SC2013,SC2154 # words are wanted, not lines; and what the caller sets
# Sourced by tests that end or stop single ranks of a running program, after program.sh. They start the launcher in the
# background and put its process id in $launcher_pid.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/children.sh"

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

has_ended() { ! still_runs "$launcher_pid"; }

# expect_end WHAT: within a minute and with an exit code other than 0, which is left in $code.
expect_end() {
  if ! wait_for 60 has_ended; then
    fail "$1: the other ranks go on"
    end_child KILL "$launcher_pid"
  fi
  wait "$launcher_pid"
  code=$?
  if [[ $code -eq 0 ]]; then fail "$1: exit code 0"; fi
}
