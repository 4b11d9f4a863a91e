#!/usr/bin/env bash
# Called by mpirun as ssh would be: two_hosts_agent.sh [OPTION]... HOST COMMAND...
set -euo pipefail
while [[ $1 == -* ]]; do shift; done
number=$((${1##*.} - 1))
shift
exec nsenter --target "$(cat "$TWO_HOSTS_FOLDER/selvage$number")" --net --uts --mount sh -c "$*"
