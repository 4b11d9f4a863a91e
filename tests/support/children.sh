# shellcheck shell=bash
# Of processes that this shell has started, by its own list. The number of one that has ended may be another process's by now, which
# `kill -0` would take for it, and which a signal would meet.

still_runs() { [[ $'\n'$(jobs -pr)$'\n' == *$'\n'"$1"$'\n'* ]]; }

# end_child SIGNAL PID: where it still runs.
end_child() {
  if still_runs "$2"; then kill "-$1" "$2"; fi
}
