#!/usr/bin/env bash
# launch_test.sh TREE BUILD MPIRUN PROGRAM: the step profile of scripts/launch.sh, as a template would call it for two ranks of
# this host, with a PROGRAM that is killed: the step fails as the program does, and its traffic until then is a profile.
set -euo pipefail
export SELVAGE_TREE=$1 SELVAGE_BUILD=$2
mpirun=$3 program=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "launch_test.sh: $*: $(cat log)" >&2
  exit 1
}

cat >job <<'EOF'
job_id=1 ranks=2
hosts_of_job() { printf '%s\n' "$(uname -n)" "$(uname -n)"; }
source "$SELVAGE_TREE/scripts/launch.sh"
run_step "$@"
EOF
export SELVAGE_OUT=$work/out SELVAGE_APP="$program killed" SELVAGE_LAUNCHER="$mpirun --oversubscribe --bind-to none"

status=0
bash job profile >log 2>&1 || status=$?
[ "$status" -ne 0 ] || fail "the step succeeded, though the program was killed"
[ -e out/profile.h5 ] || fail "there is no profile"
[ -z "$(compgen -G 'out/profile.h5.rank*')" ] || fail "parts of ranks are left"
echo "passed: a killed program leaves its profile"

status=0
bash job plan >log 2>&1 || status=$?
[ "$status" -eq 2 ] || fail "a step that there isn't ended with $status"
echo "passed: a step that there isn't"
