#!/usr/bin/env bash
# Ranks with little address space, or few open files, end with one clear message or not at all.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/rank_limits.sh"

expect_limits 2 "${training[@]}" --steps 4 --set restart.every=2 --out "$scratch/out"
finish
