#!/usr/bin/env bash
# Shared libraries, built within a project that fetches Selvage's sources, then installed from there for one that finds the package.
# usage: shared_test.sh CMAKE OUT VARIABLE=VALUE... -- MPIEXEC FLAG...
set -euo pipefail
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cmake=$1 out=$2
shift 2
definitions=()
while [ "$1" != -- ]; do
  definitions+=("-D$1")
  shift
done
shift
launch=("$@")

fail() {
  echo "$*" >&2
  exit 1
}

is_right() { "${launch[@]}" 2 "$1" | tee /dev/stderr | grep -x 'wrong cells: 0'; }

rm -rf "$out"
# A level of optimisation changes nothing of what is tested, and takes its time.
"$cmake" -G Ninja -S "$sources/subproject" -B "$out/subproject" -DBUILD_SHARED_LIBS=ON -DSELVAGE_UNITY=ON -DCMAKE_CXX_FLAGS=-O0 \
  "-DCMAKE_INSTALL_PREFIX=$out/prefix" "${definitions[@]}"
"$cmake" --build "$out/subproject"
is_right "$out/subproject/subproject"
"$cmake" --install "$out/subproject" --component selvage_libraries
[ -z "$(find "$out/prefix" -name '*.a')" ] || fail "static libraries were installed"

env -u Kokkos_ROOT -u CMAKE_PREFIX_PATH "$cmake" -G Ninja -S "$sources/consumer" -B "$out/consumer" "-DCMAKE_PREFIX_PATH=$out/prefix"
env -u Kokkos_ROOT -u CMAKE_PREFIX_PATH "$cmake" --build "$out/consumer"
# From the installed libraries, not from those of the build.
mv "$out/subproject" "$out/moved"
ldd "$out/consumer/consumer" | grep "$out/prefix/.*libselvage_comm" || fail "the consumer doesn't load the installed libraries"
is_right "$out/consumer/consumer"
