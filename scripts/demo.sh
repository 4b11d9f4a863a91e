#!/usr/bin/env bash
# From a fresh clone to a verified solution and two pictures.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<EOF
usage: scripts/demo.sh

Builds the serial preset and runs jacobi on inputs/jacobi/dirichlet.toml with 4 ranks. Everything it leaves is in
out/jacobi-dirichlet.
EOF
}

output=out/jacobi-dirichlet

run_jacobi() {
  local flags=()
  # mpirun counts cores and would refuse 4 ranks on fewer; MPICH doesn't count and knows no such flag.
  if mpirun --version 2>&1 | grep -qE "Open MPI|OpenRTE"; then flags=(--oversubscribe); fi
  OMP_NUM_THREADS=1 mpirun "${flags[@]}" -n 4 build/serial/apps/jacobi/jacobi inputs/jacobi/dirichlet.toml \
    --out "$output" --verify
}

show_files() {
  echo
  echo "What the run left in $repository/$output:"
  find "$output" -maxdepth 1 -type f | sort | sed 's/^/  /'
  echo "Open the XDMF file in ParaView; run.json holds the input, the machine, every decision and the timings."
}

take_help_alone "$@"
purpose=demo
configure_and_build serial jacobi
step "jacobi on 4 ranks" run_jacobi
step "pictures" "$(plotting_python)" scripts/plot.py jacobi "$output"
show_files
