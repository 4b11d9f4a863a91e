#!/usr/bin/env bash
# A rank that dies or hangs ends the run within the limit, and the files written so far can be continued from.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/ranks.sh"

small=(--set "system.cells=[8,8,8]" --quiet)
start() {
  # shellcheck disable=SC2086
  $LAUNCHER 4 "$PROGRAM" "${small[@]}" --steps 1000000000 "$@" >"$scratch/output" 2>&1 </dev/null &
  launcher_pid=$!
}
has_rows() { [[ -f $1/thermo.csv && $(wc -l <"$1/thermo.csv") -gt $2 ]]; }

out=$scratch/killed
start --set restart.every=10 --set output.thermo_every=10 --out "$out"
wait_for 60 test -s "$out/restart_00000020.h5" || fail "the run did not get going"
kill -KILL "$(pid_of_rank 2)"
expect_end "a killed rank"
has_rows "$out" 2 || fail "rows of thermo.csv were lost"
expect_success 2 "${small[@]}" --restart "$out/restart_00000020.h5" --steps 21 --set output.thermo_every=10 \
  --set restart.every=10 --out "$scratch/continued"

# Sums in every step, and sums between steps alone: one late rank is named, once.
for settings in "--set list.rebuild=fixed --set output.thermo_every=1" "--set list.rebuild=displacement"; do
  read -ra more <<<"$settings"
  out=$scratch/stopped
  rm -rf "$out"
  SELVAGE_TIMEOUT_MS=2000 start --set output.thermo_every=5 "${more[@]}" --out "$out"
  wait_for 60 has_rows "$out" 2 || fail "the run did not get going: $settings"
  kill -STOP "$(pid_of_rank 2)"
  expect_end "a stopped rank"
  if [[ $code -ne 1 ]]; then fail "a stopped rank: exit code $code instead of 1: $settings"; fi
  expect_text "^md: error:.*rank 2" "the message does not name the late rank: $settings"
  if [[ $(grep -c '^md: error:' "$scratch/output") -ne 1 ]]; then fail "not exactly one message: $settings"; fi
done
finish
