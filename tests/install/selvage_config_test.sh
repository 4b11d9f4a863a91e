#!/usr/bin/env bash
# What selvage-config answers, also of an installation that was moved, and through a link.
# usage: selvage_config_test.sh CXX PREFIX BINDIR VERSION KOKKOS_VERSION BUILT_WITH_OPEN_MPI MPICXX MPIEXEC FLAG...
set -euo pipefail

sources=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cxx=$1 installed=$2 bindir=$3 version=$4 kokkos_version=$5 built_with_open_mpi=$6 mpicxx=$7
shift 7
launch=("$@")
# Without links, as the script says it.
work=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$work"' EXIT
export OMPI_CXX=$cxx MPICH_CXX=$cxx
mpi=MPICH
if [ "$built_with_open_mpi" = 1 ]; then mpi="Open MPI"; fi
failures=0

# expect STATUS TEXT ARGUMENT...: what it prints, on either stream
expect() {
  local expected=$1 text=$2 status=0 said
  shift 2
  said=$("$work/link" "$@" 2>&1) || status=$?
  if [ "$status" -ne "$expected" ] || [ "$said" != "$text" ]; then
    echo "FAILED: selvage-config $*: exit code $status and '$said', in place of $expected and '$text'"
    failures=$((failures + 1))
  else
    echo "ok: selvage-config $*"
  fi
}

cp -r "$installed" "$work/moved"
ln -s "moved/$bindir/selvage-config" "$work/link"
expect 0 "$version" --version
expect 0 "$work/moved" --prefix
expect 0 "$mpi" --mpi
expect 0 "$kokkos_version" --kokkos
expect 0 "$version"$'\n'"$kokkos_version" --version --kokkos
expect 2 "selvage-config: unknown option '--colour': see selvage-config --help" --colour
expect 2 "selvage-config: unknown option '--colour': see selvage-config --help" --version --colour
expect 2 "selvage-config: no option was given: see selvage-config --help"
for option in version prefix cxxflags libs mpi kokkos help; do
  if ! "$work/link" --help | grep -q -- "^  --$option "; then
    echo "FAILED: --help has no --$option"
    failures=$((failures + 1))
  fi
done

# shellcheck disable=SC2046 # words
"$mpicxx" -DEXPECTED_VERSION="\"$version\"" $("$work/link" --cxxflags) "$sources/consumer/main.cpp" -o "$work/consumer" \
  $("$work/link" --libs)
"${launch[@]}" 2 "$work/consumer" | tee /dev/stderr | grep -x 'wrong cells: 0' || failures=$((failures + 1))

[ "$failures" -eq 0 ] || exit 1
