#!/usr/bin/env bash
# Where the link between two hosts is cut, ranks end within the limit and name who is late.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# until_seen SECONDS COMMAND...
until_seen() {
  local tries=$(($1 * 10))
  shift
  until "$@"; do
    if ((tries-- == 0)); then return 1; fi
    sleep 0.1
  done
}
has_rows() { [[ -f $hosts_folder/out/norms.csv && $(wc -l <"$hosts_folder/out/norms.csv") -gt 3 ]]; }
has_ended() { ! still_runs "$launcher"; }
says() { grep -qE -- "$1" "$output"; }

# cut_while_running WHAT REGEX ARGUMENT...: of an endless run; a message matches. Both limits are much below their defaults. No
# fields are written, so that a cut comes where the arguments say.
cut_while_running() {
  local what=$1 message=$2
  shift 2
  rm -rf "$hosts_folder/out"
  on_hosts 2 -x SELVAGE_TIMEOUT_MS=2000 -x SELVAGE_IO_TIMEOUT_MS=6000 "$JACOBI" "$INPUTS/jacobi/dirichlet.toml" \
    --steps 1000000000 --set output.fields_every=0 --quiet --out "$hosts_folder/out" "$@" >"$output" 2>&1 </dev/null &
  launcher=$!
  until_seen 60 has_rows || fail "$what: the run did not get going"
  cut_link
  until_seen 30 says "$message" || fail "$what: no message names a late rank"
  # mpirun itself waits for its daemon on the other side.
  mend_link
  until_seen 60 has_ended || fail "$what: the job goes on"
  end_child KILL "$launcher"
  wait "$launcher"
  code=$?
  if [[ $code -eq 0 ]]; then fail "$what: exit code 0"; fi
}

for initiation in host queue; do
  cut_while_running "$initiation" '^jacobi: error: .*waited 2000 ms for (all ranks, and )?rank [0-3] ' --set run.norm_every=100 --set restart.every=0 \
    --initiation "$initiation"
done

# Nearly all of the time a file is being opened, written or closed, by all ranks together. A cut may come between two of these.
for ((tries = 6; tries > 0; --tries)); do
  cut_while_running "files" '^jacobi: error: .*rank [0-3]( |$)' --set run.norm_every=1 --set restart.every=1
  if says '^selvage: writing .*restart_[0-9]+\.h5: not done after 2000 ms, given up after 6000 ms$'; then break; fi
done
if ((tries == 0)); then fail "files: nothing says what is waited for"; fi
says '^jacobi: error: writing .*restart_[0-9]+\.h5: not done within 6000 ms, and rank [0-3] does not answer' ||
  fail "files: the message doesn't name the file and the rank"
finish
