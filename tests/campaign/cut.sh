#!/usr/bin/env bash
# cut.sh ROWS_FILE CUT_AFTER_S MENDED_AFTER_S RANKS_PER_HOST COMMAND...: runs it on two hosts, cuts the link between them a time
# after it has got going, and mends it a time later. Ends with the launcher's exit code; with 124 where it goes on and is ended
# here.
set -u
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../support/two_hosts.sh"
rows_file=$1 cut_after_s=$2 mended_after_s=$3 per_host=$4
shift 4
make_hosts

limits=()
for name in SELVAGE_TIMEOUT_MS SELVAGE_SETUP_TIMEOUT_MS SELVAGE_IO_TIMEOUT_MS; do limits+=(-x "$name"); done
on_hosts "$per_host" "${limits[@]}" "$@" &
launcher=$!
has_ended() { ! still_runs "$launcher"; }
has_rows() { [[ -f $rows_file && $(wc -l <"$rows_file") -gt 3 ]]; }
# until_seen SECONDS COMMAND...
until_seen() {
  local tries=$(($1 * 10))
  shift
  until "$@" || has_ended; do
    if ((tries-- == 0)); then return 1; fi
    sleep 0.1
  done
}

until_seen 120 has_rows
sleep "$cut_after_s"
cut_link
sleep "$mended_after_s"
mend_link
if ! until_seen 40 has_ended; then
  echo "cut.sh: it goes on" >&2
  end_child TERM "$launcher"
  until_seen 20 has_ended
  exit 124
fi
wait "$launcher"
