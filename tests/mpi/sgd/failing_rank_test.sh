#!/usr/bin/env bash
# A rank that dies or hangs ends the training within the limit, and the last checkpoint can be continued from.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/ranks.sh"

endless=("${training[@]}" --set train.epochs=1000000)
start() {
  # shellcheck disable=SC2086
  $LAUNCHER 4 "$PROGRAM" "${endless[@]}" "$@" >"$scratch/output" 2>&1 </dev/null &
  launcher_pid=$!
}
has_rows() { [[ -f $1/steps.csv && $(wc -l <"$1/steps.csv") -gt $2 ]]; }

out=$scratch/killed
start --set restart.every=10 --out "$out"
wait_for 60 test -s "$out/checkpoint_00000020.h5" || fail "the training did not get going"
kill -KILL "$(pid_of_rank 2)"
expect_end "a killed rank"
has_rows "$out" 10 || fail "rows of steps.csv were lost"
expect_success 2 "${endless[@]}" --restart "$out/checkpoint_00000020.h5" --steps 21 --out "$scratch/continued"

# Ranks wait for each other in the sums of losses, and of gradients: where losses are rarely looked at, in those alone.
for settings in "" "--reduce fast" "--set run.report_every=1000"; do
  read -ra more <<<"$settings"
  out=$scratch/stopped
  rm -rf "$out"
  # Rare checkpoints: ranks wait much longer for a file.
  SELVAGE_TIMEOUT_MS=2000 start "${more[@]}" --set restart.every=300 --out "$out"
  wait_for 60 test -s "$out/checkpoint_00000300.h5" || fail "the training did not get going: $settings"
  kill -STOP "$(pid_of_rank 2)"
  expect_end "a stopped rank"
  if [[ $code -ne 1 ]]; then fail "a stopped rank: exit code $code instead of 1: $settings"; fi
  expect_text "^sgd: error:.*rank 2" "the message does not name the late rank: $settings"
  if [[ $settings == *report_every* ]]; then expect_text "bucket 0 holds dense" "the message does not name the tensors"; fi
  if [[ $(grep -c '^sgd: error:' "$scratch/output") -ne 1 ]]; then fail "not exactly one message: $settings"; fi
  expect_success 2 "${endless[@]}" "${more[@]}" --restart "$out/checkpoint_00000300.h5" --check --out "$scratch/continued"
done
finish
