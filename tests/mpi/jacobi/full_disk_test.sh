#!/usr/bin/env bash
# A file that can't be written ends all ranks with one message that names it, and the earlier files stay as they were.
# The limit on file sizes stands for a full disk: it needs no privileges, and the failing call is the same.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"

out=$scratch/out
common=(--set "grid.cells=[2100,2100]" --set run.norm_every=1 --set restart.every=2 --set output.fields=false
  --out "$out" --quiet)
expect_success 4 "${common[@]}" --steps 3
before=$(checksums "$out" | grep restart)

# Below the 34 MiB of the restart file, above all that MPI and the shared fields need.
ulimit -f 24576
expect_failure 1 "restart_00000004.h5" 4 "${common[@]}" --steps 6 --restart "$out/restart_00000002.h5"
if [[ $(checksums "$out" | grep restart) != "$before" ]]; then fail "the earlier restart file changed"; fi
if compgen -G "$out/*.partial" >/dev/null; then fail "a partial file was left behind"; fi
if [[ $(cut -d, -f1 "$out/norms.csv" | tr '\n' ' ') != "step 0 1 2 3 " ]]; then
  fail "norms.csv lost rows: $(cat "$out/norms.csv")"
fi
finish
