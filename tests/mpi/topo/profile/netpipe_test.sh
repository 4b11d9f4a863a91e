#!/usr/bin/env bash
# netpipe_test.sh RECORDER CHECKER LAUNCHER...: NetPIPE, a program that isn't ours, against Open MPI's own monitoring.
# Exit code 77 where one of the two is missing.
set -euo pipefail
recorder=$1 checker=$2
shift 2

skip() {
  echo "skipped: $*"
  exit 77
}
command -v NPopenmpi >/dev/null || skip "there is no NPopenmpi (package netpipe-openmpi)"
ompi_info --param pml monitoring 2>/dev/null | grep -q 'MCA pml monitoring' || skip "this Open MPI has no monitoring"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$@" -n 2 --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 \
  --mca pml_monitoring_filename "$work/monitored" \
  env "LD_PRELOAD=$recorder" "SELVAGE_PROFILE_FILE=$work/profile.h5" \
  NPopenmpi -l 1 -u 100000 -n 3 -p 1 -o "$work/netpipe" >log 2>&1 || { cat log >&2; exit 1; }
"$checker" profile.h5 "$work/monitored" 2
