#!/usr/bin/env bash
#flux: --job-name=selvage
#flux: --nodes=2
#flux: --nslots=8
#flux: --time-limit=10m
# From the source tree: flux batch scripts/flux/job.flux profile, then map (to look at it) or production.
job_id=$(flux getattr jobid)
ranks=8
hosts_of_job() { flux getattr hostlist | flux hostlist -e - | tr ' ' '\n' | awk '{ for (i = 0; i < 4; ++i) print }'; }
source "${SELVAGE_TREE:-$PWD}/scripts/launch.sh"
run_step "$@"
