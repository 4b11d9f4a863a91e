#!/usr/bin/env bash
# Training that was stopped and continued leaves the same bits as training that was not, on other ranks too.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

common=("${training[@]}" --set restart.every=10 --set train.warmup_steps=3 --set train.weight_decay=0.001)
for settings in "1 1" "2 3" "2 3 --set comm.sharded=true" "2 2 --set comm.tiles=true" "1 3 --set data.resident_bytes=600" "2 2 --reduce fast --set run.timed_products=false"; do
  read -ra more <<<"$settings"
  rm -rf "$scratch/whole" "$scratch/parts"
  expect_success "${more[0]}" "${common[@]}" "${more[@]:2}" --out "$scratch/whole"
  expect_success "${more[0]}" "${common[@]}" "${more[@]:2}" --steps 10 --out "$scratch/parts"
  # What a run that went on after step 10 and crashed would have left: rows that the continued run writes again.
  printf '11,9,9,9\n12,9' >>"$scratch/parts/steps.csv"
  # The test after the last step of a shorter run is no row of the whole one.
  sed -i '/^10,/d' "$scratch/parts/epochs.csv"
  first_end_to_end expect_success "${more[1]}" "${common[@]}" "${more[@]:2}" --out "$scratch/parts" \
    --restart "$scratch/parts/checkpoint_00000010.h5"
  for file in steps.csv epochs.csv checkpoint_00000020.h5; do
    cmp "$scratch/whole/$file" "$scratch/parts/$file" || fail "$file differs: $settings"
  done
done
# A checkpoint of a sharded optimizer is one like any other: whole, and to be continued without shards.
rm -rf "$scratch/whole" "$scratch/parts"
expect_success 1 "${common[@]}" --out "$scratch/whole"
expect_success 2 "${common[@]}" --set comm.sharded=true --steps 10 --out "$scratch/parts"
cmp "$scratch/whole/checkpoint_00000010.h5" "$scratch/parts/checkpoint_00000010.h5" || fail "a sharded checkpoint differs"
expect_success 3 "${common[@]}" --out "$scratch/parts" --restart "$scratch/parts/checkpoint_00000010.h5"
cmp "$scratch/whole/checkpoint_00000020.h5" "$scratch/parts/checkpoint_00000020.h5" || fail "continued without shards"

# Of so many parameters that a flipped bit is one of theirs, or of their momentum.
wide=("${common[@]}" --set "model.hidden=[512]")
rm -rf "$scratch/parts"
expect_success 1 "${wide[@]}" --steps 10 --out "$scratch/parts"
flip_bit "$scratch/parts/checkpoint_00000010.h5"
expect_failure 2 "checkpoint_00000010.h5: the values of '(momentum_of_)?parameters' are damaged: the checksum of" \
  2 "${wide[@]}" --out "$scratch/other" --restart "$scratch/parts/checkpoint_00000010.h5"
finish
