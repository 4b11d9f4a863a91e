# shellcheck shell=bash
# Sourced by the tests of this folder.
set -u
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/two_hosts.sh"
reason=$(two_hosts_refusal)
if [[ -n $reason ]]; then
  echo "skipped: no two hosts can be made: $reason"
  exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
make_hosts
# shellcheck disable=SC2154 # make_hosts sets it
output=$hosts_folder/output
failures=0

fail() {
  echo "FAILED: $*"
  sed 's/^/    /' "$output"
  failures=$((failures + 1))
}

# expect_success RANKS_PER_HOST COMMAND...
expect_success() {
  local code=0
  on_hosts "$@" >"$output" 2>&1 </dev/null || code=$?
  if [[ $code -ne 0 ]]; then fail "exit code $code: $*"; fi
}

finish() {
  if [[ $failures -gt 0 ]]; then
    echo "$failures failed"
    exit 1
  fi
  echo "passed"
}
