#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<EOF
usage: scripts/test.sh [serial|openmp|cuda|asan|tsan]...   (serial)

Builds in build/PRESET. SELVAGE_JOBS (the number of cores) bounds the compilers and tests that run at a time.
EOF
}

test_preset() {
  local preset=$1
  configure_and_build "$preset"
  step "test $preset" ctest --preset "$preset" --parallel "$jobs"
}

case ${1:-} in
  --help | -h)
    usage
    exit
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
