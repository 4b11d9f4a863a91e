#!/usr/bin/env bash
# Compiles each source of the libraries, mini-apps and tests by itself and without precompiled headers, as far as finding errors
# goes: in a batch, a source can lean on what the one before it includes.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build=$repository/build/each-alone

usage() { echo "usage: scripts/each-alone.sh"; }

# Nothing is linked, so only objects can be asked for. None is written, which ninja doesn't mind. Left out are headers, which comm.headers
# compiles one by one, tests that a compiler must refuse, those that start programs which would be linked first, and Fortran, whose
# modules are more than syntax.
compile_each() {
  mapfile -t objects < <(ninja -C "$build" -t targets all | sed -nE 's/^((lib|apps|tests)\/.*\.o): .*/\1/p' |
    grep -vE '/test_comm_headers\.dir/|/rejected/|/topo/profile/|tool[a-z_]*_test|\.f90\.o')
  [ ${#objects[@]} -gt 400 ] || fail "only ${#objects[@]} sources were found in $build"
  ninja -C "$build" -j "$jobs" -k 0 "${objects[@]}"
}

take_help_alone "$@"
use_dependencies serial
step "configure" cmake --log-level=WARNING -S "$repository" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DSELVAGE_UNITY=OFF -DSELVAGE_CCACHE=OFF -DSELVAGE_BUILD_BENCH=OFF -DSELVAGE_BUILD_EXAMPLES=OFF \
  "-DCMAKE_PROJECT_Selvage_INCLUDE=$repository/cmake/SyntaxOnly.cmake"
step "compile" compile_each
