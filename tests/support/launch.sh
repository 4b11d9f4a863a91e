#!/usr/bin/env bash
# launch.sh LAUNCHER ARGUMENT...: with its output and exit code, also where the launcher's own end goes wrong. After it has ended
# ranks itself, mpiexec of Open MPI 4.1 over PMIx 4.2 now and then crashes or waits for ever (in PMIx_server_finalize). Its exit
# code is then what it has told of the ranks. The output has to go to files, which are read for that.
set -u
# shellcheck source-path=SCRIPTDIR
source "${BASH_SOURCE[0]%/*}/children.sh"
# Of this process, also where a command's output goes elsewhere. Reading a pipe would never end.
outputs=()
for output in /proc/$$/fd/1 /proc/$$/fd/2; do
  if [[ -f $output ]]; then outputs+=("$output"); fi
done

# look_at PID: counts its children in $ranks, and those that haven't ended in $running.
look_at() {
  local list children child state
  ranks=0 running=0
  for list in /proc/"$1"/task/*/children; do
    children=()
    read -ra children 2>/dev/null <"$list" || true
    for child in "${children[@]}"; do
      ((++ranks))
      # The name before the state may have spaces.
      read -r state 2>/dev/null <"/proc/$child/stat" || continue
      state=${state##*) }
      if [[ ${state:0:1} != Z ]]; then ((++running)); fi
    done
  done
}

# end_late PID: where it still is there a while after all of its ranks.
end_late() {
  local never looks=0 had_ranks='' ranks running
  exec {never}<> <(:)
  while ((looks < 4)); do
    read -rt 3 -u "$never"
    look_at "$1"
    if ((ranks > 0)); then had_ranks=yes; fi
    if ((running > 0)); then looks=0; elif [[ -n $had_ranks ]]; then ((++looks)); fi
  done
  kill -KILL "$1"
}

# code_told ELSE: the exit code that mpiexec has told of the rank that ended first.
code_told() {
  local told
  told=$(sed -nE -e 's/^ *Exit code: +([0-9]+)$/\1/p' -e 's/^with errorcode ([0-9]+)\.$/\1/p' \
    -e 's/.* exited on signal ([0-9]+) .*/128 + \1/p' "${outputs[@]}" </dev/null | head -n 1)
  echo $((${told:-$1}))
}

"$@" &
launcher=$!
trap 'kill -TERM "$launcher"' TERM
end_late "$launcher" </dev/null >/dev/null 2>&1 &
watch=$!
wait "$launcher" 2>/dev/null
code=$?
end_child TERM "$watch"
wait "$watch" 2>/dev/null
watched=$?
# Ended by the watch, which then ends by itself, or crashed.
if [[ $code -eq 137 && $watched -eq 0 ]]; then
  code=$(code_told 1)
elif [[ $code -eq 139 ]] && grep -qs 'libopen-rte.*orte_finalize' "${outputs[@]}" </dev/null; then
  code=$(code_told 0)
fi
exit "$code"
