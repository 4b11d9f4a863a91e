#!/usr/bin/env bash
# Halos by every transport and initiation, lists and sums, between two hosts.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# expect_tests RANKS_PER_HOST PROGRAM FILTER: all pass, and there are some.
expect_tests() {
  expect_success "$1" "$2" --gtest_filter="$3" --gtest_color=no
  if ! grep -q '^\[  PASSED  \] [1-9]' "$output"; then fail "no test passed: $2 $3"; fi
}
expect_tests 1 "$CONFORMANCE" "HaloConformance1D/0.*"
expect_tests 2 "$CONFORMANCE" "HaloConformance1D/0.*:HaloConformance2D/0.*:HaloConformance3D/0.*"
expect_tests 2 "$ALLREDUCE" "*Allreduce*"
expect_tests 2 "$LISTS" "*List*:*Migration*"
finish
