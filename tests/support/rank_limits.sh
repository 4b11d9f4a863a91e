# shellcheck shell=bash
# Sourced after program.sh by tests of programs whose ranks have limits that mpirun has not.

# within LIMIT COMMAND...: LIMIT is an argument list of ulimit, as "-v 200000".
within() {
  # shellcheck disable=SC2154 # of program.sh
  local PROGRAM=$PROGRAM limited=$scratch/limited/$app
  mkdir -p "$scratch/limited"
  printf '#!/usr/bin/env bash\nulimit -c 0 && ulimit %s && exec %q "$@"\n' "$1" "$PROGRAM" >"$limited"
  chmod +x "$limited"
  PROGRAM=$limited
  shift
  "$@"
}

# expect_clean_end REGEX RANKS ARGUMENT...: it runs well, or ends with 1 and one message, which matches.
expect_clean_end() {
  local regex=$1
  run "${@:2}"
  # shellcheck disable=SC2154 # run sets it
  if [[ $code -eq 0 ]]; then return; fi
  if [[ $code -ne 1 ]]; then fail "exit code $code: ${*:2}"; fi
  local messages
  messages=$(grep -c "^$app: error:" "$scratch/output")
  if [[ $messages -ne 1 ]]; then fail "$messages messages instead of 1: ${*:2}"; fi
  expect_text "^$app: error: .*($regex)" "the message"
}

# expect_limits RANKS ARGUMENT...: of a small run, and what each limit makes of it. MPI itself crashes where it is left too little
# address space, so that is looked at before MPI begins.
expect_limits() {
  local ranks=$1 limit
  shift
  for limit in 100000 150000 200000 250000; do
    within "-v $limit" expect_failure 1 "rank [0-9]+ has a limit of $limit KiB of address space" "$ranks" "$@"
  done
  for limit in 400000 600000; do
    within "-v $limit" expect_clean_end "not enough memory|no thread can be started|Cannot allocate memory" "$ranks" "$@"
  done
  for limit in 20 24 28 32; do within "-n $limit" expect_clean_end "Too many open files" "$ranks" "$@"; done
}
