#!/usr/bin/env bash
# mismatch_test.sh CMAKE CXX PREFIX BUILT_WITH_OPEN_MPI KOKKOS_VERSION: find_package(Selvage) and its headers take no Kokkos and no MPI
# but those that the installed Selvage was built with, and name both.
set -euo pipefail

cmake=$1 cxx=$2 prefix=$3 built_with_open_mpi=$4 kokkos_version=$5
consumer=$(cd "$(dirname "${BASH_SOURCE[0]}")/consumer" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset Kokkos_ROOT Kokkos_DIR CMAKE_PREFIX_PATH MPI_HOME
failures=0

# expect_refusal TITLE REGEX COMMAND...
expect_refusal() {
  local title=$1 regex=$2 status=0
  shift 2
  "$@" >"$work/out" 2>&1 || status=$?
  if [ "$status" -eq 0 ] || ! tr -s ' \n' ' ' <"$work/out" | grep -qE "$regex"; then
    echo "FAILED: $title: exit code $status, in place of /$regex/:"
    cat "$work/out"
    failures=$((failures + 1))
  else
    echo "ok: $title"
  fi
}

# configure ARGUMENT...
configure() {
  rm -rf "$work/build"
  "$cmake" -S "$consumer" -B "$work/build" "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_CXX_COMPILER=$cxx" "$@"
}

# kokkos VERSION DEVICES OPTIONS: a package that says so, in $work/kokkos.
kokkos() {
  rm -rf "$work/kokkos"
  mkdir "$work/kokkos"
  printf 'set(Kokkos_DEVICES "%s")\nset(Kokkos_OPTIONS "%s")\nadd_library(Kokkos::kokkos INTERFACE IMPORTED)\n' "$2" "$3" \
    >"$work/kokkos/KokkosConfig.cmake"
  printf 'set(PACKAGE_VERSION "%s")\nif(PACKAGE_FIND_VERSION STREQUAL PACKAGE_VERSION)\nset(PACKAGE_VERSION_EXACT ON)\nendif()\n' \
    "$1" >"$work/kokkos/KokkosConfigVersion.cmake"
  printf 'set(PACKAGE_VERSION_COMPATIBLE ON)\n' >>"$work/kokkos/KokkosConfigVersion.cmake"
}

# Another version is passed over for the right one.
kokkos 4.6.01 SERIAL ""
if configure "-DKokkos_DIR=$work/kokkos" >"$work/out" 2>&1 && ! grep -q "Kokkos_DIR.*$work" "$work/build/CMakeCache.txt"; then
  echo "ok: another version of Kokkos"
else
  echo "FAILED: another version of Kokkos is taken:"
  cat "$work/out"
  failures=$((failures + 1))
fi
kokkos "$kokkos_version" HIP ""
expect_refusal "a Kokkos for other devices" "built with a Kokkos for [A-Z;]+, and the one in $work/kokkos is for HIP: set Kokkos_ROOT" \
  configure "-DKokkos_DIR=$work/kokkos"

# other_mpi: an MPI of the other kind, in $work/mpi, as far as CMake looks at one. Few machines have two.
other_mpi() {
  local is_open_mpi='#define OPEN_MPI 1'
  if [ "$built_with_open_mpi" = 1 ]; then is_open_mpi=; fi
  mkdir "$work/mpi"
  cat >"$work/mpi/mpi.h" <<EOF
$is_open_mpi
#define MPI_VERSION 3
#define MPI_SUBVERSION 1
static inline int MPI_Init(int*, char***) { return 0; }
static inline int MPI_Finalize(void) { return 0; }
EOF
  # FindMPI asks for the compiler's arguments, as MPICH's tells them.
  cat >"$work/mpi/mpicxx" <<EOF
#!/bin/sh
case \$1 in
  -show) echo "$cxx -I$work/mpi -lm" ;;
  *) exit 1 ;;
esac
EOF
  chmod +x "$work/mpi/mpicxx"
}

other_mpi
expect_refusal "another MPI" "built with .*, and .* was found in $work/mpi: set MPI_CXX_COMPILER" \
  configure "-DMPI_CXX_COMPILER=$work/mpi/mpicxx"

# Headers may come from elsewhere than what CMake has found.
mkdir "$work/include"
echo '#define KOKKOS_VERSION 40601' >"$work/include/Kokkos_Macros.hpp"
echo '#include <selvage/comm/detail/built_with.hpp>' >"$work/main.cpp"
expect_refusal "headers of another Kokkos" "Selvage was built with Kokkos $kokkos_version, and the headers of another version come first" \
  "$cxx" -I "$work/include" -I "$work/mpi" -I "$prefix/include" -fsyntax-only "$work/main.cpp"
expect_refusal "headers of another MPI" "Selvage was built with Open MPI, and mpi.h is another MPI's" \
  "$cxx" -I "$work/include" -I "$work/mpi" -I "$prefix/include" -fsyntax-only "$work/main.cpp"

[ "$failures" -eq 0 ] || exit 1
