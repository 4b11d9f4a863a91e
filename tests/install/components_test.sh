#!/usr/bin/env bash
# components_test.sh CMAKE CXX PREFIX MAJOR.MINOR: find_package(Selvage COMPONENTS ...) says what it has found, and refuses what it
# doesn't have.
set -euo pipefail

cmake=$1 cxx=$2 prefix=$3 minor=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset Kokkos_ROOT Kokkos_DIR CMAKE_PREFIX_PATH
failures=0

# configure FIND_PACKAGE_ARGUMENTS ARGUMENT...: a project that prints what was found.
configure() {
  local asked=$1
  shift
  rm -rf "$work/project"
  mkdir "$work/project"
  cat >"$work/project/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(components LANGUAGES CXX)
find_package(Selvage $asked)
set(found "")
foreach(component IN ITEMS base topo comm c simulation fortran nonsense)
  if(Selvage_\${component}_FOUND)
    list(APPEND found \${component})
  endif()
  if(TARGET Selvage::\${component})
    list(APPEND found Selvage::\${component})
  endif()
endforeach()
list(JOIN found " " found)
message(STATUS "Selvage_FOUND=\${Selvage_FOUND}, found: \${found}.")
EOF
  "$cmake" -S "$work/project" -B "$work/project/build" "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_CXX_COMPILER=$cxx" "$@"
}

# expect STATUS TEXT FIND_PACKAGE_ARGUMENTS ARGUMENT...: CMake ends with this exit code and prints the text.
expect() {
  local expected=$1 text=$2 status=0
  shift 2
  configure "$@" >"$work/out" 2>&1 || status=$?
  if [ "$status" -ne "$expected" ] || ! tr -s ' \n' ' ' <"$work/out" | grep -qF "$text"; then
    echo "FAILED: find_package(Selvage $1): exit code $status, in place of $expected and '$text':"
    cat "$work/out"
    failures=$((failures + 1))
  else
    echo "ok: $*"
  fi
}

no_kokkos=-DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON
every="base Selvage::base topo Selvage::topo comm Selvage::comm c Selvage::c simulation Selvage::simulation"

expect 0 "found: $every." "REQUIRED"
expect 0 "found: base Selvage::base topo Selvage::topo." "REQUIRED COMPONENTS topo" $no_kokkos
expect 0 "found: base Selvage::base topo Selvage::topo comm Selvage::comm." "REQUIRED COMPONENTS comm"
expect 0 "found: base Selvage::base topo Selvage::topo comm Selvage::comm c Selvage::c." "REQUIRED COMPONENTS topo c"
expect 0 "found: base Selvage::base topo Selvage::topo simulation Selvage::simulation." "REQUIRED COMPONENTS simulation" $no_kokkos

expect 1 "it has no component nonsense: there are base, topo, comm, c, simulation and fortran" "REQUIRED COMPONENTS topo nonsense"
expect 0 "Selvage_FOUND=0, found: ." "COMPONENTS nonsense"
expect 0 "found: base Selvage::base topo Selvage::topo." "REQUIRED COMPONENTS topo OPTIONAL_COMPONENTS nonsense"

# Before 1.0 the minor version has to be the same.
expect 0 "found: $every." "$minor REQUIRED"
expect 1 'compatible with requested version "0.1"' "0.1 REQUIRED"

expect 1 "Kokkos" "REQUIRED COMPONENTS comm" $no_kokkos
expect 0 "Selvage_FOUND=0, found: ." "COMPONENTS comm" $no_kokkos
expect 0 "Selvage_FOUND=1, found: base Selvage::base topo Selvage::topo." \
  "REQUIRED COMPONENTS topo OPTIONAL_COMPONENTS comm" $no_kokkos
expect 0 "found: base Selvage::base topo Selvage::topo comm Selvage::comm c Selvage::c." \
  "REQUIRED COMPONENTS topo OPTIONAL_COMPONENTS c"
expect 1 "its component fortran takes a project with the language Fortran" "REQUIRED COMPONENTS fortran"

[ "$failures" -eq 0 ] || exit 1
