#!/usr/bin/env bash
# Input that can't be used ends all ranks with one clear message and exit code 2, and touches no earlier output.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

out=$scratch/out
small=(--set "grid.cells=[24,24]" --quiet)
expect_success 2 "${small[@]}" --set run.norm_every=10 --steps 20 --set restart.every=10 --out "$out"
restart=$out/restart_00000010.h5
before=$(checksums "$out")

refuse() { expect_failure 2 "$1" 4 "${small[@]}" --steps 30 --out "$out" "${@:2}"; }
# line=N expected=REGEX input LINE...
# shellcheck disable=SC2154 # both are set where it is called
input() {
  printf '%s\n' "$@" >"$scratch/input.toml"
  refuse "input.toml:$line:.*$expected" "$scratch/input.toml"
}

# As a user meets it, once.
line=2 expected="did you mean .*norm_every" end_to_end input "[run]" "norm_evry = 10"
line=2 expected="run.norm_every" input "[run]" 'norm_every = "often"'
line=2 expected="case.amplitude" input "[case]" "amplitude = nan"
line=2 expected="case.name" input "[case]" 'name = "dirichle"'
line=2 expected="" input "[grid]" "periodic = [true,"
refuse "did you mean.*--steps" --stesp 10
refuse "no_such.toml" "$scratch/no_such.toml"
refuse "kokkos-num-threads is 'abc'" --kokkos-num-threads=abc
refuse "grid.cells" --set "grid.cells=[0,24]"
refuse "grid.cells" --set "grid.cells=[24,-1]"
refuse "stencil.*5 or 9" --set run.stencil=7
refuse "[Oo]verlap" --overlap sometimes
refuse "cells" --set "grid.cells=[24,2]" --ranks-grid 1x4
refuse "ranks" --ranks-grid 3x2
refuse "case.amplitude.* is 0 in fp32" --set case.amplitude=1e-200 --set run.precision=fp32
refuse "run.restart.* must name a file, but is empty" --restart ""
refuse "steps_per_exchange = 13 needs halos of 13 cells.*boxes of 12" --steps-per-exchange 13 --ranks-grid 2x2

cp "$restart" "$scratch/truncated.h5"
truncate -s -3000 "$scratch/truncated.h5"
echo "not HDF5" >"$scratch/garbage.h5"
refuse "no_such.h5" --restart "$scratch/no_such.h5"
refuse "truncated.h5" --restart "$scratch/truncated.h5"
refuse "garbage.h5" --restart "$scratch/garbage.h5"
refuse "cells is 24x24.*25x24" --restart "$restart" --set "grid.cells=[25,24]"
refuse "precision is fp64.*fp32" --restart "$restart" --set run.precision=fp32
refuse "stencil is 5.*9" --restart "$restart" --set run.stencil=9
refuse "case is dirichlet.*public-sample" --restart "$restart" --set case.name=public-sample
refuse "after step 10.*run.steps = 5" --restart "$restart" --steps 5

if [[ $(checksums "$out") != "$before" ]]; then fail "bad input changed earlier output in $out"; fi

# Found out while it runs: a run-time error.
end_to_end expect_failure 1 "residual at step 20 is inf" 4 "${small[@]}" --steps 20 --set run.norm_every=0 --set restart.every=10 \
  --set case.amplitude=1e300 --out "$scratch/infinite"
if [[ ! -s $scratch/infinite/restart_00000010.h5 ]]; then fail "the restart file from before the error is gone"; fi
end_to_end expect_failure 1 "garbage.h5" 2 "${small[@]}" --steps 5 --out "$scratch/garbage.h5/below"
finish
