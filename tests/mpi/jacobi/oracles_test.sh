#!/usr/bin/env bash
# The shipped inputs and the known figures: error ratios for n = 63, the norms of the public sample.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

quiet=(--out "$scratch/out" --quiet --verify --set output.fields=false)
for ranks in 1 2 4 6; do
  expect_success "$ranks" "${quiet[@]}" --set "grid.cells=[63,63]" --set run.norm_every=1 --steps 300
  expect_text "^VERIFY ok error ratio" "$ranks ranks"
  expect_text "^VERIFY ok field" "$ranks ranks"
  expect_text "^FOM: [0-9.e+-]+ GLUPS$" "$ranks ranks"
done
# Row k of the history is the state after k sweeps; 0.9987954562 is lambda for n = 63.
ratio=$(awk -F, '$1 == 1 { print substr($4, 1, 12) }' "$scratch/out/norms.csv")
if [[ $ratio != 0.9987954562 ]]; then fail "the error after one sweep is $ratio"; fi

expect_success 2 "$INPUTS/public-sample.toml" "${quiet[@]}"
expect_text "^VERIFY ok public-sample norms" "public-sample.toml"
expect_success 4 "$INPUTS/dirichlet.toml" "${quiet[@]}" --set restart.every=0
expect_text "^VERIFY ok error ratio" "dirichlet.toml"
expect_success 2 "$INPUTS/heat3d.toml" "${quiet[@]}" --steps 100
expect_text "^VERIFY ok error ratio" "heat3d.toml"
expect_success 2 "${quiet[@]}" --set run.precision=fp32 --set "grid.cells=[63,63]" --steps 300
expect_text "^VERIFY ok error ratio" "fp32"

expect_success 2 "${quiet[@]}" --set "grid.cells=[31,31]" --set run.tolerance=1e-3 --set run.norm_every=5 --steps 100000
if ! awk -F, 'NR > 1 { if ($2 > 1e-3) above = NR; else if (!below) below = NR; last = NR }
              END { exit !(below == last && above == last - 1) }' "$scratch/out/norms.csv"; then
  fail "the run didn't stop at the first residual below the tolerance"
fi

# What has no oracle isn't verified: that is a failure too.
run 2 --set case.name=public-sample --set "grid.cells=[30,20]" --steps 3 "${quiet[@]}"
if [[ $code -ne 3 ]]; then fail "exit code $code instead of 3 where nothing could be verified"; fi
expect_text "^VERIFY failed public-sample norms" "no oracle"
finish
