#!/usr/bin/env bash
# Ranks with little address space, or few open files, end with one clear message or not at all.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/rank_limits.sh"

expect_limits 2 --set "system.cells=[4,4,4]" --steps 10 --set restart.every=5 --quiet --out "$scratch/out"
finish
