#!/usr/bin/env bash
# Input that can't be used ends the program with one clear message and exit code 2, and touches no earlier output.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

out=$scratch/out
expect_success 1 "${training[@]}" --steps 20 --set restart.every=10 --out "$out"
checkpoint=$out/checkpoint_00000010.h5
before=$(checksums "$out")

refuse() { expect_failure 2 "$1" "${ranks:-1}" "${training[@]}" --out "$out" "${@:2}"; }
# As a user meets it, once.
end_to_end refuse "did you mean.*train.epochs" --set train.epoch=3
refuse "did you mean.*--reduce" --reduse fast
refuse "comm.ranks_grid must be .auto.: ranks that train form no grid" --ranks-grid 1x1x1
refuse "comm.initiation must be one of auto" --initiation host
refuse "train.batch is 204, and .*data.h5 has 203 samples" --set train.batch=204
ranks=2 refuse "train.batch = 4 gives 1 grain of 4 to 2 ranks" --set train.batch=4
ranks=2 refuse "train.batch = 1 gives 1 grain of 1 to 2 ranks" --set train.batch=1 --reduce fast

refuse "comm.tiles.*doesn't go with comm.sharded" --set comm.tiles=true --set comm.sharded=true
refuse "comm.tiles.*needs comm.overlap" --set comm.tiles=true --set comm.overlap=false
refuse "comm.tiles.*doesn't go with comm.bf16" --set comm.tiles=true --reduce fast --set comm.bf16=true
refuse "comm.sharded.*needs a model" --data synthetic:resnet50 --set comm.sharded=true
refuse "run.timed_products.*needs comm.reduce" --set run.timed_products=true

faulty() {
  # shellcheck disable=SC2086
  $LAUNCHER 1 "$SAMPLE_DATA" "$scratch/faulty.h5" "$1" || fail "no data set with fault $1"
  ranks=2 refuse "$2" --data "$scratch/faulty.h5"
}
faulty label "faulty.h5: train_labels\[17\] is 4, and labels go from 0 to 3"
faulty nan "faulty.h5: test_features\[2, 1\] isn't finite"
faulty shape "faulty.h5: train_features and train_labels must be"
faulty width "faulty.h5: test_features has 5 features per sample, and train_features 6"
faulty type "faulty.h5: array .* holds float64, not float32"
cp "$data" "$scratch/truncated.h5"
truncate -s -1000 "$scratch/truncated.h5"
refuse "truncated.h5: is not a complete HDF5 file: .*truncated" --data "$scratch/truncated.h5"
refuse "no_such.h5" --data "$scratch/no_such.h5"
refuse "checkpoint_00000010.h5" --data "$checkpoint"

refuse "layers is 6-16-4, and this run's is 6-17-4" --restart "$checkpoint" --set "model.hidden=[17]"
refuse "6 features are no images of 4 x 2 pixels" --set "model.image=[4,2]" --set "model.channels=[3]"
refuse "are too small for 2 convolutions" --set "model.image=[3,2]" --set "model.channels=[3,3]"
mkdir "$scratch/idx"
refuse "idx/train-images-idx3-ubyte: " --data "$scratch/idx"
refuse "batch is 27, and this run's is 26" --restart "$checkpoint" --set train.batch=26
refuse "seed is 1, and this run's is 2" --restart "$checkpoint" --set train.seed=2
refuse 'it has comm.reduce = "ordered", and this run comm.reduce = "fast": give what the file has' --restart "$checkpoint" --reduce fast
refuse "is after step 10, and this run ends at 5" --restart "$checkpoint" --steps 5
refuse "has no attribute" --restart "$data"
if [[ $(checksums "$out") != "$before" ]]; then fail "bad input changed earlier output in $out"; fi

# Found out while it runs: a run-time error that names step and layer, and leaves the checkpoints.
for ranks in 1 2; do
  rm -rf "$scratch/blown"
  end_to_end expect_failure 1 "(layer dense[12] is|gradient of dense[12].*) (NaN|too large).* in step [0-9]+" $ranks "${training[@]}" \
    --set train.rate=1e12 --set restart.every=1 --out "$scratch/blown"
  [[ -s $scratch/blown/checkpoint_00000001.h5 ]] || fail "the checkpoint from before the error is gone"
done
# Where losses are rarely looked at, as on GPUs, a checkpoint still comes after a look.
rm -rf "$scratch/late"
end_to_end expect_failure 1 "(layer dense[12] is|gradient of dense[12].*) (NaN|too large).* in step [2-5]" 2 "${training[@]}" \
  --set train.rate=1e12 --set run.report_every=1000 --set restart.every=5 --out "$scratch/late"
if compgen -G "$scratch/late/checkpoint_*" >/dev/null; then fail "a checkpoint was written after the weights were lost"; fi
expect_success 1 "${training[@]}" --set train.rate=1e12 --restart "$scratch/blown/checkpoint_00000001.h5" --check
finish
