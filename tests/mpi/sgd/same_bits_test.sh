#!/usr/bin/env bash
# With ordered sums, training gives the same bits on any number of ranks and in any buckets; it learns.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

hash_of() { sed -n 's/.*"parameter_hash": "\(.*\)".*/\1/p' "$1/run.json"; }

expect_success 1 "${training[@]}" --out "$scratch/one" --verify --set verify.accuracy=0.9
expect_text "^VERIFY ok accuracy" "the samples are learnt"
for settings in "2" "3 --set comm.bucket_bytes=64" "4 --set comm.overlap=false" "2 --set train.weight_decay=0" \
  "2 --set run.report_every=5 --set run.breakdown=false --set run.graph=true"; do
  read -ra more <<<"$settings"
  rm -rf "$scratch/other"
  expect_success "${more[0]}" "${training[@]}" "${more[@]:1}" --out "$scratch/other"
  expect_text "^VERIFY ok replicas" "ranks agree"
  [[ $(hash_of "$scratch/one") == $(hash_of "$scratch/other") ]] || fail "other parameters: $settings"
  for file in steps.csv epochs.csv; do
    cmp "$scratch/one/$file" "$scratch/other/$file" || fail "$file differs: $settings"
  done
done

# Convolutions as well.
images=(--set "model.image=[3,2]" --set "model.channels=[5]")
for ranks in 1 3; do
  expect_success $ranks "${training[@]}" "${images[@]}" --out "$scratch/images$ranks"
  expect_text "^VERIFY ok replicas" "ranks agree"
done
[[ $(hash_of "$scratch/images1") == $(hash_of "$scratch/images3") ]] || fail "other parameters: convolutions"
[[ $(hash_of "$scratch/images1") != $(hash_of "$scratch/one") ]] || fail "convolutions change nothing"

# What must change the bits does.
for settings in "--set train.seed=2" "--set train.weight_decay=0.01" "--set train.warmup_steps=5" "--set train.momentum=0.8"; do
  read -ra more <<<"$settings"
  expect_success 1 "${training[@]}" "${more[@]}" --out "$scratch/changed"
  [[ $(hash_of "$scratch/one") != $(hash_of "$scratch/changed") ]] || fail "the same parameters: $settings"
done

# Fast sums leave ranks alike, and learn too.
for settings in "" "--set comm.bf16=true"; do
  read -ra more <<<"$settings"
  expect_success 2 "${training[@]}" "${more[@]}" --reduce fast --out "$scratch/fast" --verify --set verify.accuracy=0.9
  expect_text "^VERIFY ok replicas" "ranks agree"
done
expect_success 2 "${training[@]}" --out "$scratch/checked" --check
[[ ! -e $scratch/checked ]] || fail "--check wrote files"
run 2 "${training[@]}" --out "$scratch/poor" --steps 1 --verify --set verify.accuracy=1
[[ $code -eq 3 ]] || fail "exit code $code instead of 3 for too few recognised samples"
finish
