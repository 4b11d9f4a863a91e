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
names_a_rank() { grep -qE '^jacobi: error: .*waited 2000 ms for rank [0-3] ' "$output"; }

for initiation in host queue; do
  rm -rf "$hosts_folder/out"
  on_hosts 2 -x SELVAGE_TIMEOUT_MS=2000 -x SELVAGE_IO_TIMEOUT_MS=5000 "$JACOBI" "$INPUTS/jacobi/dirichlet.toml" \
    --initiation "$initiation" --steps 1000000000 --set run.norm_every=100 --quiet --out "$hosts_folder/out" >"$output" 2>&1 </dev/null &
  launcher=$!
  until_seen 60 has_rows || fail "$initiation: the run did not get going"
  cut_link
  until_seen 30 names_a_rank || fail "$initiation: no message names a late rank"
  # mpirun itself waits for its daemon on the other side.
  mend_link
  has_ended() { ! kill -0 "$launcher" 2>/dev/null; }
  until_seen 60 has_ended || fail "$initiation: the job goes on"
  kill -KILL "$launcher" 2>/dev/null
  wait "$launcher"
  code=$?
  if [[ $code -eq 0 ]]; then fail "$initiation: exit code 0"; fi
done
finish
