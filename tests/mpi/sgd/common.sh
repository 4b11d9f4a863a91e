# shellcheck shell=bash
# Sourced by the scripts: SAMPLE_DATA writes data sets, see sample_data.cpp.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"

data=$scratch/data.h5
# shellcheck disable=SC2086
$LAUNCHER 1 "$SAMPLE_DATA" "$data" || fail "no data set"
# For the scripts that source this. Without the steps that are only timed.
# shellcheck disable=SC2034
training=(--data "$data" --set "model.hidden=[16]" --set train.batch=27 --set train.grain=4 --set train.epochs=4
  --set run.timed_steps=0 --quiet)
