#!/usr/bin/env bash
# Fields don't depend on ranks, process grid, overlap, transport or steps per exchange: each run equals the serial
# solution bit by bit.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

check() {
  expect_success "$1" --out "$scratch/out" --set output.fields=false --set run.norm_every=7 --steps 30 --compare-serial \
    --quiet "${@:2}"
  expect_text "^VERIFY ok compare-serial: $cells cells" "$*"
}

cells=1961
flat=(--set "grid.cells=[37,53]")
check 1 "${flat[@]}"
check 2 "${flat[@]}" --overlap off
for ranks_grid in 1x4 2x2 4x1; do check 4 "${flat[@]}" --ranks-grid "$ranks_grid"; done
check 6 "${flat[@]}" --steps-per-exchange 2
check 4 "${flat[@]}" --steps-per-exchange 3 --set run.stencil=9 --set "grid.periodic=[true,false]"
transports=(peer mpi_staged)
if mpi_takes_views 2 "${flat[@]}" --out "$scratch/out" --quiet --steps 1 --transport mpi_direct; then transports+=(mpi_direct); fi
for transport in "${transports[@]}"; do
  SELVAGE_TRANSPORT=$transport check 4 "${flat[@]}"
  check 4 "${flat[@]}" --transport "$transport" --steps-per-exchange 2 --set run.precision=fp32
done
check 4 "${flat[@]}" --overlap kernel --set "grid.periodic=[true,false]"
SELVAGE_LOGICAL_HOSTS=2x2 check 4 "${flat[@]}" --overlap kernel --set "grid.periodic=[true,false]"
SELVAGE_TRANSPORT=mpi_staged check 4 "${flat[@]}" --overlap kernel --set run.stencil=9 --set "grid.periodic=[true,true]"
cells=7920
check 6 --set "grid.cells=[18,20,22]" --set run.stencil=27 --set "grid.periodic=[false,true,true]" --ranks-grid 1x2x3
finish
