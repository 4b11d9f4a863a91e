#!/usr/bin/env bash
# The mini-apps between two hosts agree with their oracles, whoever starts a transfer.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

run_app() { expect_success 2 "$@" --quiet --out "$hosts_folder/out"; }
for initiation in host stream queue kernel; do
  run_app "$JACOBI" "$INPUTS/jacobi/dirichlet.toml" --initiation "$initiation" --steps 200 --verify
done
for _ in 1 2 3 4 5; do
  run_app "$JACOBI" "$INPUTS/jacobi/dirichlet.toml" --transport mpi_staged --initiation queue --steps 100 --verify
done
for initiation in host stream queue; do
  run_app "$MD" "$INPUTS/md/lj.toml" --initiation "$initiation" --steps 40
done
# No kernel reaches the lists of another host.
on_hosts 2 "$MD" "$INPUTS/md/lj.toml" --initiation kernel --steps 40 --quiet --out "$hosts_folder/out" >"$output" 2>&1 </dev/null
code=$?
if [[ $code -ne 1 ]] || ! grep -q "^md: error: initiation kernel, .*the rank is on another host" "$output"; then
  fail "exit code $code where kernels of md would send to another host"
fi
for reduce in ordered fast; do
  run_app "$SGD" --data synthetic:resnet50 --steps 1 --reduce "$reduce"
done
finish
