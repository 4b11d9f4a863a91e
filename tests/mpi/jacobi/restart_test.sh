#!/usr/bin/env bash
# A run that was stopped and continued leaves the same bits as one that was not.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

# The stop lies within a cycle of three sweeps per exchange.
common=(--set "grid.cells=[41,38]" --set run.norm_every=3 --set restart.every=20 --set output.fields_every=10
  --compare-serial --quiet)
for settings in "--overlap host" "--overlap off" "--steps-per-exchange 3" "--set run.precision=fp32"; do
  read -ra more <<<"$settings"
  rm -rf "$scratch/whole" "$scratch/parts"
  expect_success 4 "${common[@]}" "${more[@]}" --steps 40 --out "$scratch/whole"
  expect_success 4 "${common[@]}" "${more[@]}" --steps 20 --out "$scratch/parts"
  # What a run that went on after step 20 and crashed would have left: rows that the continued run writes again.
  printf '21,9,9,9,9,9\n24,9,9' >>"$scratch/parts/norms.csv"
  first_end_to_end expect_success 4 "${common[@]}" "${more[@]}" --steps 40 --out "$scratch/parts" \
    --restart "$scratch/parts/restart_00000020.h5"
  expect_text "^VERIFY ok compare-serial" "restart with $settings"
  cmp "$scratch/whole/norms.csv" "$scratch/parts/norms.csv" || fail "norms.csv differs with $settings"
  cmp "$scratch/whole/fields.xdmf" "$scratch/parts/fields.xdmf" || fail "fields.xdmf differs with $settings"
done

# With other ranks the field is still the same to the bit.
for ranks in 1 3; do
  expect_success "$ranks" "${common[@]}" --steps 40 --out "$scratch/other" \
    --restart "$scratch/parts/restart_00000020.h5" --set run.precision=fp32
  expect_text "^VERIFY ok compare-serial" "restart on $ranks ranks"
done

flip_bit "$scratch/parts/restart_00000020.h5"
expect_failure 2 "restart_00000020.h5: the values of 'u' are damaged: the checksum of those from .* is [0-9a-f]+, and the file says" \
  2 "${common[@]}" --steps 40 --out "$scratch/other" --restart "$scratch/parts/restart_00000020.h5" --set run.precision=fp32
finish
