#!/usr/bin/env bash
# Gradients of ResNet-50's sizes are added up exactly, in any buckets, and what can't be verified is refused.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

synthetic=(--data synthetic:resnet50 --steps 1 --quiet --out "$scratch/out")
for settings in "2 --reduce fast" "3 --set comm.bucket_bytes=4194304 --set comm.overlap=false"; do
  read -ra more <<<"$settings"
  expect_success "${more[0]}" "${synthetic[@]}" "${more[@]:1}"
  expect_text "^VERIFY ok first sums" "sums are exact: $settings"
  expect_text "^VERIFY ok last sums: 0 of 25557032" "sums are exact: $settings"
done
expect_failure 2 "only synthetic:resnet50" 1 "${synthetic[@]}" --data synthetic:resnet51
expect_failure 2 "comm.bf16.*rounds sums" 1 "${synthetic[@]}" --reduce fast --set comm.bf16=true
finish
