#!/usr/bin/env bash
# Scripts that end what they have started must not take another process for it whose number is the same. As root the kernel gives the
# number of a child that has ended to the next process, otherwise a process of another shell stands for that.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/children.sh"
failures=0
# expect WHAT COMMAND...
expect() {
  local what=$1
  shift
  "$@" || { echo "FAILED: $what"; failures=$((failures + 1)); }
}
not() { ! "$@"; }

sleep 60 &
running=$!
expect "a child runs" still_runs "$running"
end_child TERM "$running"
wait "$running" 2>/dev/null
expect "a child that was ended runs no longer" not still_runs "$running"

# other_process PID: started by another shell, with this number where the kernel lets one ask for it; its number in $other.
other_process() {
  # shellcheck disable=SC2016 # the other shell's
  other=$(bash -c '{ echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid; } 2>/dev/null; sleep 60 >/dev/null 2>&1 & echo $!' other "$1")
}
for ((tries = 0; tries < 50; ++tries)); do
  true &
  ended=$!
  wait "$ended"
  other_process "$ended"
  if [[ $other == "$ended" || ! -w /proc/sys/kernel/ns_last_pid ]]; then break; fi
  kill -KILL "$other"
done
echo "the child was $ended, the other process is $other"
expect "a process of another shell isn't taken for a child" not still_runs "$other"
end_child KILL "$other"
expect "it goes on" kill -0 "$other"
kill -KILL "$other"
[[ $failures -eq 0 ]]
