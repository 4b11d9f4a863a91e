#!/usr/bin/env bash
# Installs what is missing, builds the tests and runs them.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<EOF
usage: scripts/test.sh [--quick | --full] [serial|openmp|cuda|mpich|asan|tsan]...   (serial)

Builds in build/PRESET and runs all tests but those labelled full, which take long.

  --quick  build and run those labelled quick: a few minutes, for before a commit
  --full   run those labelled full alone

Prints at the end which tests were skipped, and why, and which failed. SELVAGE_JOBS (the number of cores) bounds the
compilers that run at a time, and with two more the tests.
EOF
}

# How many times as long a loop takes as on an ordinary machine: tests wait in vain for a short time, within which ranks that are
# well must have come.
slowness() {
  local start=${EPOCHREALTIME/[.,]/}
  awk 'BEGIN { for (i = 0; i < 3000000; ++i) sum += i }'
  echo $(((${EPOCHREALTIME/[.,]/} - start) / 150000 + 1))
}

# run_tests PRESET CTEST_ARGUMENT...
run_tests() {
  local preset=$1
  shift
  export TEST_SLOWNESS
  TEST_SLOWNESS=$(slowness)
  # Two more than cores: tests of single processes then run beside those whose ranks wait for each other.
  ctest --preset "$preset" --parallel "$((jobs + 2))" "$@"
}

# Kept beside ctest's own, which the next run overwrites.
list_skipped() {
  local folder=$repository/build/$1/Testing/Temporary
  cp "$folder/LastTest.log" "$folder/$2.log"
  echo "skipped:"
  "$repository/scripts/skipped.py" "$folder/$2.log" | sed 's/^/  /'
}

# Once more, below a long list.
list_failed() {
  echo "failed:"
  sed 's/^[0-9]*:/  /' "$repository/build/$1/Testing/Temporary/LastTestsFailed.log"
}

# test_and_list PRESET CTEST_ARGUMENT...
test_and_list() {
  local status=0
  rm -f "$repository/build/$1/Testing/Temporary"/Last*.log
  run_tests "$@" || status=$?
  list_skipped "$1" "$mode"
  if [ "$status" -ne 0 ]; then list_failed "$1"; fi
  return "$status"
}

test_preset() {
  # No test runs a benchmark.
  local preset=$1 labels=(--label-exclude '^full$') targets=(lib/all apps/all examples/all tests/all)
  case $mode in
    quick)
      labels=(--label-regex '^quick$')
      targets=(selvage_quick_tests)
      ;;
    full) labels=(--label-regex '^full$') ;;
  esac
  configure_and_build "$preset" "${targets[@]}"
  step "test $preset" test_and_list "$preset" "${labels[@]}"
}

mode="all"
case ${1:-} in
  --help | -h)
    usage
    exit
    ;;
  --quick | --full)
    mode=${1#--}
    shift
    ;;
  -*)
    usage >&2
    exit 2
    ;;
esac
presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(serial)
for preset in "${presets[@]}"; do
  variant_of_preset "$preset" >/dev/null
done
for preset in "${presets[@]}"; do
  # In a subshell, so that one preset's Kokkos doesn't leak into the next.
  (test_preset "$preset")
done
echo "all tests passed in $SECONDS s: ${presets[*]}"
