#!/usr/bin/env bash
# place.sh PROFILE HOSTS OUTPUT: from a profile and a list of hosts, one line per rank in the default order, writes the
# same list in the order of a better placement. Without a selvage-topo that maps, or without a profile, the default stays.
set -euo pipefail
profile=$1 hosts=$2 output=$3
selvage_topo=${SELVAGE_TOPO:-selvage-topo}

if [ ! -e "$profile" ]; then
  echo "place.sh: there is no $profile: default order" >&2
  cp "$hosts" "$output"
elif ! "$selvage_topo" --help 2>/dev/null | grep -qE "^ +map( |$)"; then
  echo "place.sh: $selvage_topo can't map: default order" >&2
  cp "$hosts" "$output"
else
  "$selvage_topo" map "$profile" --hosts "$hosts" --format hostfile --output "$output"
fi
