#!/usr/bin/env bash
# A rank that dies or hangs ends the training within the limit, and the last checkpoint can be continued from.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/ranks.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

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
end_to_end expect_success 2 "${endless[@]}" --restart "$out/checkpoint_00000020.h5" --steps 21 --out "$scratch/continued"

# stop_a_rank SETTING...: rank 2 hangs somewhere in a step, and the others end with one message that names it.
stop_a_rank() {
  out=$scratch/stopped
  rm -rf "$out"
  # Rare checkpoints: in one, ranks wait longer. They may still be at the end of the first when its file is seen.
  SELVAGE_TIMEOUT_MS=2000 SELVAGE_IO_TIMEOUT_MS=10000 start "$@" --set restart.every=1500 --out "$out"
  wait_for 60 test -s "$out/checkpoint_00001500.h5" || fail "the training did not get going: $*"
  kill -STOP "$(pid_of_rank 2)"
  expect_end "a stopped rank"
  if [[ $code -ne 1 ]]; then fail "a stopped rank: exit code $code instead of 1: $*"; fi
  expect_text "^sgd: error:.*rank 2" "the message does not name the late rank: $*"
  if [[ $(grep -c '^sgd: error:' "$scratch/output") -ne 1 ]]; then fail "not exactly one message: $*"; fi
  expect_success 2 "${endless[@]}" "$@" --restart "$out/checkpoint_00001500.h5" --check --out "$scratch/continued"
}
# Ranks wait for each other in the sums of losses, and of gradients. That the message names tensors is tested beside
# GradientSum, where a rank surely stops in a sum of gradients.
for settings in "" "--reduce fast"; do
  read -ra more <<<"$settings"
  stop_a_rank "${more[@]}"
done
finish
