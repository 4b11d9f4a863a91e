#!/usr/bin/env bash
# An example that can't begin says why in one line, as the programs that are copied from it will, and ends with 1.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"

export SELVAGE_TIMEOUT_MS=soon
for ranks in 1 2; do
  run "$ranks"
  if [[ $code -ne 1 ]]; then fail "exit code $code instead of 1 on $ranks ranks"; fi
  # Every rank has the variable and may say so before the first of them ends the others.
  messages=$(grep -c "^$app: " "$scratch/output")
  if [[ $messages -lt 1 || $messages -gt $ranks ]]; then fail "$messages messages on $ranks ranks"; fi
  expect_text "^$app: SELVAGE_TIMEOUT_MS=soon is not a whole number" "the message"
  if grep -q "terminate called" "$scratch/output"; then fail "no catch on $ranks ranks"; fi
done
finish
