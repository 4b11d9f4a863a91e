#!/usr/bin/env bash
# Programs are built by mpicxx with what pkg-config says, also of an installation that was moved.
# usage: pkg_config_test.sh PKG_CONFIG CXX PREFIX LIBDIR VERSION MPIEXEC FLAG...
set -euo pipefail

sources=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pkg_config=$1 cxx=$2 installed=$3 libdir=$4 version=$5
shift 5
launch=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The compiler below mpicxx, of Open MPI and of MPICH.
export OMPI_CXX=$cxx MPICH_CXX=$cxx

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# build_and_run MODULE SOURCE SAYS
build_and_run() {
  local module=$1 source=$2 says=$3 mpicxx
  mpicxx=$("$pkg_config" --variable=mpicxx "$module")
  # shellcheck disable=SC2046 # words
  "$mpicxx" -DEXPECTED_VERSION="\"$version\"" "$sources/$source" -o "$work/$module" $("$pkg_config" --cflags --libs "$module")
  "${launch[@]}" 2 "$work/$module" | tee /dev/stderr | grep -x "$says" || fail "the program of $module is wrong"
}

cp -r "$installed" "$work/moved"
export PKG_CONFIG_PATH=$work/moved/$libdir/pkgconfig
if grep -r "$installed" "$PKG_CONFIG_PATH"; then fail "a file names where it was installed"; fi

for module in selvage-topo selvage-comm; do
  "$pkg_config" --exists --print-errors "$module = $version" || fail "there is no $module $version"
done
if "$pkg_config" --cflags --libs selvage-topo | grep -i kokkos; then fail "selvage-topo asks for Kokkos"; fi
build_and_run selvage-topo topo_consumer/main.cpp 'ranks: 2'
build_and_run selvage-comm consumer/main.cpp 'wrong cells: 0'
