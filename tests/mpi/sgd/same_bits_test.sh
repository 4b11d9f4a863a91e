#!/usr/bin/env bash
# With ordered sums, training gives the same bits on any number of ranks and in any buckets; it learns.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

figure_of() { sed -n "s/.*\"$2\": \([-+.0-9e]*\).*/\1/p" "$1/run.json"; }
hash_of() { sed -n 's/.*"parameter_hash": "\(.*\)".*/\1/p' "$1/run.json"; }

expect_success 1 "${training[@]}" --set run.timed_steps=10 --out "$scratch/one" --verify --set verify.accuracy=0.9
expect_text "^VERIFY ok accuracy" "the samples are learnt"
for settings in "2" "3 --set comm.bucket_bytes=64" "4 --set comm.overlap=false" "2 --set train.weight_decay=0" \
  "2 --set run.report_every=5 --set run.breakdown=false --set run.graph=true" \
  "3 --set data.resident_bytes=0" "2 --set data.resident_bytes=1000 --set run.report_every=1000" \
  "2 --set comm.tiles=true" "3 --set comm.tiles=true --set comm.bucket_bytes=64" "2 --set comm.sharded=true" \
  "4 --set comm.sharded=true --set comm.bucket_bytes=256" "3 --set comm.sharded=true --set comm.overlap=false"; do
  read -ra more <<<"$settings"
  rm -rf "$scratch/other"
  expect_success "${more[0]}" "${training[@]}" "${more[@]:1}" --out "$scratch/other"
  expect_text "^VERIFY ok replicas" "ranks agree"
  [[ $(hash_of "$scratch/one") == $(hash_of "$scratch/other") ]] || fail "other parameters: $settings"
  for file in steps.csv epochs.csv; do
    cmp "$scratch/one/$file" "$scratch/other/$file" || fail "$file differs: $settings"
  done
done

# Sharded, no rank has all of the momentum: of 180 parameters, in lines of 64 elements.
expect_success 2 "${training[@]}" --out "$scratch/sharded" --set comm.sharded=true --set run.breakdown=true \
  --set run.timed_steps=10
[[ $(figure_of "$scratch/one" momentum_bytes_most) -eq 720 ]] || fail "the momentum is not that of all parameters"
[[ $(figure_of "$scratch/sharded" momentum_bytes_most) -le 512 ]] || fail "a rank has more than its shards' momentum"
# What is due to the other ranks, and how buckets travel: one of 180 gradients of 8 bytes in each step but the first.
share=$(figure_of "$scratch/sharded" share_blocked)
[[ $share =~ ^(0|0\.[0-9]+|[0-9.]+e-[0-9]+)$ ]] || fail "share_blocked is '$share'"
# What DDP's reports have; and shares are shares.
awk -v step="$(figure_of "$scratch/sharded" step_us)" -v alone="$(figure_of "$scratch/sharded" step_alone_us)" \
  -v efficiency="$(figure_of "$scratch/sharded" scaling_efficiency)" -v rate="$(figure_of "$scratch/sharded" samples_per_s)" \
  -v spread="$(figure_of "$scratch/sharded" samples_per_s_uncertainty)" -v back="$(figure_of "$scratch/sharded" backward_us)" \
  -v sums="$(figure_of "$scratch/sharded" communication_us)" -v hidden="$(figure_of "$scratch/sharded" hidden_share)" \
  -v waited="$(figure_of "$scratch/sharded" share_waited)" 'BEGIN { off = efficiency * step / alone - 1
    exit !(off * off < 1e-6 && rate > 0 && spread > 0 && back > 0 && sums > 0 && hidden != "" && hidden >= 0 && hidden <= 1 &&
           waited > 0 && waited <= 1) }' || fail "figures of steps and sums don't fit together"
[[ $(figure_of "$scratch/one" samples_per_s) ]] || fail "a rank alone has no rate"
[[ $(figure_of "$scratch/sharded" allreduces_of_1024_to_2047_bytes) -eq 27 ]] || fail "the buckets' sizes are not counted"
[[ -n $(figure_of "$scratch/sharded" allreduces_of_1024_to_2047_bytes_GB_per_s) ]] || fail "no rate of the buckets"
grep -q "bucket 0, 4 gradients: ReduceScatter of 180 x 8 bytes between 2 ranks" "$scratch/sharded/run.json" ||
  fail "how buckets travel is not explained"
[[ -z $(figure_of "$scratch/one" share_blocked) ]] || fail "a rank alone is blocked by others"
# A rank's last kernel publishes tiles, which are added up while others' still run.
expect_success 2 "${training[@]}" --out "$scratch/tiles" --set comm.tiles=true
grep -q "the last layer's gradients: TiledAllreduce of 1 tile between 2 ranks" "$scratch/tiles/run.json" ||
  fail "tiles are not combined one by one"
# A model of one layer, all in tiles; a first layer that is cut in four, and one whose tiles are several.
for model in "--set model.hidden=[]" "--set model.hidden=[] --set comm.bucket_bytes=32" "--set model.hidden=[5000]"; do
  read -ra layers <<<"$model"
  for settings in "1" "3 --set comm.tiles=true"; do
    read -ra more <<<"$settings"
    expect_success "${more[0]}" "${training[@]}" "${layers[@]}" "${more[@]:1}" --steps 3 --out "$scratch/layers${more[0]}"
  done
  [[ $(hash_of "$scratch/layers1") == $(hash_of "$scratch/layers3") ]] || fail "other parameters in tiles: $model"
done

# Files in MNIST's format, where ranks keep all samples, read those of their batches, or unpack what is compressed.
idx=$scratch/idx
mkdir "$idx"
# shellcheck disable=SC2086
$LAUNCHER 1 "$SAMPLE_DATA" "$idx" || fail "no IDX files"
expect_success 1 "${training[@]}" --data "$idx" --out "$scratch/idx1" --verify --set verify.accuracy=0.9
expect_success 3 "${training[@]}" --data "$idx" --out "$scratch/idx3" --set data.resident_bytes=600
grep -q "samples are read when they are needed, 3 steps at once" "$scratch/idx3/run.json" || fail "samples are kept"
gzip "$idx"/train-*
expect_success 2 "${training[@]}" --data "$idx" --out "$scratch/idx2" --set data.resident_bytes=0
for ranks in 2 3; do
  [[ $(hash_of "$scratch/idx1") == $(hash_of "$scratch/idx$ranks") ]] || fail "other parameters: IDX files, $ranks ranks"
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
# Between two ranks there is one order of sums; each keeps its choice of products.
for settings in "" "--set comm.tiles=true" "--set comm.sharded=true"; do
  read -ra more <<<"$settings"
  expect_success 2 "${training[@]}" "${more[@]}" --reduce fast --set run.timed_products=false --out "$scratch/fast2${#settings}"
  [[ $(hash_of "$scratch/fast20") == $(hash_of "$scratch/fast2${#settings}") ]] || fail "other fast sums: $settings"
done
expect_success 2 "${training[@]}" --out "$scratch/checked" --check
[[ ! -e $scratch/checked ]] || fail "--check wrote files"
run 2 "${training[@]}" --out "$scratch/poor" --steps 1 --verify --set verify.accuracy=1
[[ $code -eq 3 ]] || fail "exit code $code instead of 3 for too few recognised samples"
finish
