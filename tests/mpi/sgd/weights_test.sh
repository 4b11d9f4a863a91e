#!/usr/bin/env bash
# Weights that a training leaves are what its README says, another program can write such a file, and a training begins with it.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

if ! python=$(source "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/lib.sh" && plotting_python 2>/dev/null); then
  skip "no Python here has h5py"
fi
by_numpy() { "$python" "$(dirname "${BASH_SOURCE[0]}")/weights_by_numpy.py" "$@" || fail "NumPy: $*"; }
hash_of() { sed -n 's/.*"parameter_hash": "\(.*\)".*/\1/p' "$1/run.json"; }

for model in "--set model.hidden=[16]" "--set model.image=[2,3] --set model.channels=[3] --set model.hidden=[5]"; do
  read -ra more <<<"$model"
  rm -rf "$scratch/one" "$scratch/other"
  expect_success 2 "${training[@]}" "${more[@]}" --out "$scratch/one"
  by_numpy recognise "$data" "$scratch/one"
  by_numpy copy "$scratch/one/weights.h5" "$scratch/copy.h5"
  # Without a step nothing is drawn nor moved; with another seed, what the file lacks would be another.
  first_end_to_end expect_success 3 "${training[@]}" "${more[@]}" --out "$scratch/other" --weights "$scratch/copy.h5" --steps 0 \
    --set train.seed=2
  [[ $(hash_of "$scratch/one") == $(hash_of "$scratch/other") ]] || fail "weights come back as others: $model"
  by_numpy recognise "$data" "$scratch/other"
done

# A training that begins so can be stopped and continued.
more=("${training[@]}" --set restart.every=10 --set "model.hidden=[5]" --set "model.image=[2,3]" --set "model.channels=[3]")
rm -rf "$scratch/one" "$scratch/other"
expect_success 1 "${more[@]}" --weights "$scratch/copy.h5" --out "$scratch/one"
expect_success 2 "${more[@]}" --out "$scratch/other" --restart "$scratch/one/checkpoint_00000010.h5"
cmp "$scratch/one/weights.h5" "$scratch/other/weights.h5" || fail "a restart leaves other weights"

before=$(checksums "$scratch/one")
refuse() { expect_failure 2 "$1" 2 "${more[@]}" --out "$scratch/one" "${@:2}"; }
refuse_damaged() {
  by_numpy "$1" "$scratch/copy.h5" "$scratch/damaged.h5"
  refuse "damaged.h5: $2" --weights "$scratch/damaged.h5"
}
refuse_damaged without "has no array 'dense2.bias'"
refuse_damaged transposed "dense2.weight has the shape 4 x 5, and the model's has 5 x 4"
refuse_damaged doubles "array 'dense2.weight' holds float64, not float32"
refuse_damaged nan "an element of dense2.weight isn't finite"
refuse_damaged more "the model has no tensor 'dense9.bias'"
refuse "no_such.h5" --weights "$scratch/no_such.h5"
refuse "model.weights.*doesn't go with run.restart" --weights "$scratch/copy.h5" \
  --restart "$scratch/one/checkpoint_00000010.h5"
refuse "model.weights.*needs a model that is trained" --weights "$scratch/copy.h5" --data synthetic:resnet50 --reduce fast
by_numpy edit "$scratch/one/weights.h5" "$scratch/damaged.h5"
refuse "damaged.h5: the values of 'dense2.weight' are damaged" --weights "$scratch/damaged.h5"
[[ $(checksums "$scratch/one") == "$before" ]] || fail "what was refused changed earlier output"
finish
