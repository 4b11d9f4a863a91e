#!/usr/bin/env bash
# prediction_test.sh RECORDER PROGRAM RANKS LAUNCHER...: what a Grid predicts of an exchange is what the recorder sees of it.
set -euo pipefail
recorder=$1 program=$2 ranks=$3
shift 3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for steps in 10 37; do
  "$@" -n "$ranks" env "LD_PRELOAD=$recorder" "SELVAGE_PROFILE_FILE=$work/$steps.h5" "$program" run "$steps" "$work/one.csv"
done
"$program" check "$work/10.h5" "$work/37.h5" "$work/one.csv" 27
