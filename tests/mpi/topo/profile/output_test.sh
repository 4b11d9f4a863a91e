#!/usr/bin/env bash
# output_test.sh RECORDER CHECKER MERGER PROGRAM OTHER_MPI_PROGRAM OTHER_LAUNCHER LAUNCHER...: where files go, and
# what happens where they can't: one line, and nothing else about the program changes. The other MPI's may be empty.
set -euo pipefail
recorder=$1 checker=$2 merger=$3 program=$4 other_program=$5 other_launcher=$6
shift 6
launcher=("$@")

fail() {
  echo "output_test.sh: $*" >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset SLURM_JOB_ID PBS_JOBID LSB_JOBID FLUX_JOB_ID SELVAGE_PROFILE_FILE SELVAGE_PROFILE_PARTS

# record VARIABLE=VALUE... -- CASE: with two ranks; all that it printed is in the file "log"
record() {
  local settings=()
  while [ "$1" != -- ]; do
    settings+=("$1")
    shift
  done
  "${launcher[@]}" -n 2 env "LD_PRELOAD=$recorder" "${settings[@]}" "$program" "$2" >log 2>&1
}

record -- ring || fail "exit code $?: $(cat log)"
[ ! -s log ] || fail "not silent: $(cat log)"
"$checker" selvage-profile-*.h5 ring 2 1
[[ "$(ls)" =~ ^log.selvage-profile-[0-9]+\.h5$ ]] || fail "the default name: $(ls)"
rm selvage-profile-*.h5

record SLURM_JOB_ID=77 -- ring || fail "exit code $?: $(cat log)"
"$checker" selvage-profile-77.h5 ring 2 1
rm selvage-profile-77.h5

record "SELVAGE_PROFILE_FILE=$work/missing/profile.h5" -- ring || fail "exit code $?: $(cat log)"
grep -q '^libselvage_profile: no profile was written: .*/missing/profile.h5' log || fail "no complaint: $(cat log)"
[ "$(wc -l <log)" -eq 1 ] || fail "more than one line: $(cat log)"

mkfifo device
record "SELVAGE_PROFILE_FILE=$work/device" -- ring || fail "exit code $?: $(cat log)"
grep -q '^libselvage_profile: no profile was written: .*/device: it is no regular file' log || fail "no complaint: $(cat log)"
[ -p device ] || fail "a file has taken the place of a pipe"
rm device

mkdir parts
record SELVAGE_PROFILE_FILE=profile.h5 SELVAGE_PROFILE_PARTS=parts -- killed && fail "killed ranks, exit code 0"
[ "$(find parts -type f | wc -l)" -eq 2 ] || fail "parts: $(ls parts)"
"$merger" parts/profile.h5 merged.h5
"$checker" merged.h5 ring 2 0
[ -z "$(ls parts)" ] || fail "parts are left: $(ls parts)"
record SELVAGE_PROFILE_FILE=profile.h5 SELVAGE_PROFILE_PARTS=parts -- killed && fail "killed ranks, exit code 0"
echo "no part" >parts/profile.h5.rank1
"$merger" parts/profile.h5 half.h5 2>log || fail "exit code $?: $(cat log)"
grep -q '^selvage-profile-merge: there is no part that can be read of 1 of 2 ranks, of 1: what they sent is missing$' log || fail "$(cat log)"
rm parts/* half.h5
"$merger" parts/profile.h5 >log 2>&1 && fail "merged without parts"
grep -q 'there is no part' log || fail "$(cat log)"

record SELVAGE_PROFILE_FILE=profile.h5 SELVAGE_PROFILE_PARTS=off -- killed && fail "killed ranks, exit code 0"
[ "$(ls)" = "$(printf 'log\nmerged.h5\nparts')" ] || fail "parts although they are off: $(ls)"
record SELVAGE_PROFILE_FILE=profile.h5 SELVAGE_PROFILE_PARTS=off -- ring || fail "exit code $?: $(cat log)"
"$checker" profile.h5 ring 2 1

rm profile.h5
record SELVAGE_PROFILE_FILE=profile.h5 SELVAGE_PROFILE_PARTS=missing -- ring || fail "exit code $?: $(cat log)"
"$checker" profile.h5 ring 2 1
grep -q '^libselvage_profile: no part is kept .*: missing/profile.h5.rank0: No such file or directory$' log || fail "no complaint: $(cat log)"
[ "$(wc -l <log)" -eq 1 ] || fail "more than one line: $(cat log)"

[ -n "$other_program" ] || exit 0
rm -f profile.h5
"$other_launcher" -n 2 env "LD_PRELOAD=$recorder" "SELVAGE_PROFILE_FILE=$work/profile.h5" "$other_program" ring \
  >log 2>&1 || fail "exit code $? under another MPI: $(cat log)"
grep -q '^libselvage_profile: no profile is recorded: .* the program uses' log || fail "no complaint: $(cat log)"
[ "$(wc -l <log)" -eq 1 ] || fail "more than one line: $(cat log)"
