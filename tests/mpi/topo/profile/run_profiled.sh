#!/usr/bin/env bash
# run_profiled.sh RECORDER CHECKER MERGER PROGRAM CASE RANKS LAUNCHER...: runs a program with and without the recorder.
# It must end in the same way, print nothing more, and leave exactly the expected profile.
set -euo pipefail
recorder=$1 checker=$2 merger=$3 program=$4 case=$5 ranks=$6
shift 6
launcher=("$@")

fail() {
  echo "run_profiled.sh: $*" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export SELVAGE_PROFILE_FILE=$work/profile.h5

plain=0 profiled=0
"${launcher[@]}" -n "$ranks" "$program" "$case" >plain.txt 2>&1 || plain=$?
if [ "$case" = one_sided ] && grep -q "MPI_Win_create" plain.txt; then
  echo "skipped: this MPI makes no windows: $(grep -m 1 "MPI_ERR" plain.txt)"
  exit 77
fi
"${launcher[@]}" -n "$ranks" env "LD_PRELOAD=$recorder" "$program" "$case" >profiled.txt 2>&1 || profiled=$?
# Whose code counts is chance where every rank leaves by itself and the launcher ends the others.
if [ "$case" = leaving ]; then plain=$((plain > 0)) profiled=$((profiled > 0)); fi
[ "$profiled" -eq "$plain" ] || fail "exit code $profiled instead of $plain: $(cat profiled.txt)"

complete=1
case $case in
  aborting | all_aborting | killed | leaving) complete=0 ;;
  failing) ;;
  *)
    [ "$plain" -eq 0 ] || fail "exit code $plain without the recorder: $(cat plain.txt)"
    [ ! -s profiled.txt ] || fail "the recorder is not silent: $(cat profiled.txt)"
    ;;
esac
case $case in
  killed | leaving)
    # Nobody was left to write it.
    [ ! -e profile.h5 ] || fail "there should be no file yet"
    "$merger" profile.h5
    ;;
esac
"$checker" profile.h5 "$case" "$ranks" "$complete"
rm -f plain.txt profiled.txt profile.h5
[ -z "$(ls -A)" ] || fail "left behind: $(ls -A)"
