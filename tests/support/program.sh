# shellcheck shell=bash
# Sourced by the tests that run a mini-app as a user would. They need LAUNCHER (the number of ranks comes next), PROGRAM
# (the mini-app) and INPUTS (its input files).
set -u
: "${LAUNCHER:?}" "${PROGRAM:?}" "${INPUTS:?}"
app=$(basename "$PROGRAM")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# Whether this is the long form of a test, which CI runs: TEST_FULL=1 ctest.
is_full() { [[ ${TEST_FULL:-0} -eq 1 ]]; }

# skip REASON: the whole test. leave_out REASON: a part of it. Both print a line that whoever runs the tests looks for.
leave_out() { echo "skipped: $*"; }
skip() {
  leave_out "$@"
  exit 77
}

fail() {
  echo "FAILED: $*"
  if [[ -s $scratch/output ]]; then sed 's/^/    /' "$scratch/output"; fi
  failures=$((failures + 1))
}

# run RANKS ARGUMENT...: output of all ranks in $scratch/output, the exit code in $code. series.sh has another.
run() { run_by_itself "$@"; }
run_by_itself() {
  local ranks=$1
  shift
  code=0
  # LAUNCHER is a command line.
  # shellcheck disable=SC2086
  $LAUNCHER "$ranks" "$PROGRAM" "$@" >"$scratch/output" 2>&1 </dev/null || code=$?
}

expect_success() {
  run "$@"
  if [[ $code -ne 0 ]]; then fail "exit code $code: $*"; fi
}

# expect_text REGEX WHAT: the last run printed it.
expect_text() {
  if ! grep -qE -- "$1" "$scratch/output"; then fail "no line matches '$1': $2"; fi
}

# mpi_takes_views RANKS ARGUMENT...: of a run that forces mpi_direct, for which MPI must take the memory that Views are in. Where it
# doesn't, what follows is left out; scripts/gpu.sh runs it with an MPI that does.
mpi_takes_views() {
  run "$@"
  if ! grep -q 'this MPI does not say that it takes device pointers' "$scratch/output"; then return 0; fi
  leave_out "mpi_direct: this MPI does not take device pointers"
  return 1
}

# expect_failure CODE REGEX RANKS ARGUMENT...: ends with that code and exactly one message, which matches.
expect_failure() {
  local expected_code=$1 regex=$2
  shift 2
  run "$@"
  if [[ $code -ne $expected_code ]]; then fail "exit code $code instead of $expected_code: $*"; fi
  local messages
  messages=$(grep -c "^$app: error:" "$scratch/output")
  if [[ $messages -ne 1 ]]; then fail "$messages messages instead of 1: $*"; fi
  if ! grep -qE -- "^$app: error:.*($regex)" "$scratch/output"; then fail "no message matches '$regex': $*"; fi
}

# flip_bit FILE: the lowest bit of a byte past the middle. In HDF5 files of some kilobytes or more it is one of a value: in the
# middle itself, a file of two arrays has what describes the second one.
flip_bit() {
  local place byte
  place=$(($(stat -c %s "$1") * 5 / 8))
  byte=$(od -An -tu1 -j "$place" -N 1 "$1")
  # shellcheck disable=SC2059 # the byte is the format
  printf "\\x$(printf %x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$place" conv=notrunc status=none
}

# checksums DIRECTORY: of all files in it, to see that none changed.
checksums() { (cd "$1" && find . -type f -exec cksum {} + | sort -k 3); }

finish() {
  if declare -F end_series >/dev/null; then end_series; fi
  if [[ $failures -gt 0 ]]; then
    echo "$failures failed"
    exit 1
  fi
  echo "passed"
}
