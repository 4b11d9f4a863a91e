#!/usr/bin/env bash
# Compiles each source of the libraries and mini-apps by itself and without precompiled headers, as far as finding errors
# goes: in a batch, a source can lean on what the one before it includes.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build=$repository/build/each-alone

usage() { echo "usage: scripts/each-alone.sh"; }

# Nothing is linked, so only objects can be asked for. None is written, which ninja doesn't mind.
compile_each() {
  mapfile -t objects < <(ninja -C "$build" -t targets all | sed -nE 's/^((lib|apps)\/.*\.o): .*/\1/p')
  [ ${#objects[@]} -gt 200 ] || fail "only ${#objects[@]} sources were found in $build"
  ninja -C "$build" -j "$jobs" -k 0 "${objects[@]}"
}

case ${1:-} in
  "") ;;
  --help | -h)
    usage
    exit
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac
use_dependencies serial
step "configure" cmake --log-level=WARNING -S "$repository" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DSELVAGE_UNITY=OFF -DSELVAGE_CCACHE=OFF -DSELVAGE_BUILD_TESTS=OFF -DSELVAGE_BUILD_BENCH=OFF -DSELVAGE_BUILD_EXAMPLES=OFF \
  "-DCMAKE_PROJECT_Selvage_INCLUDE=$repository/cmake/SyntaxOnly.cmake"
step "compile" compile_each
