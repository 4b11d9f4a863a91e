#!/usr/bin/env bash
# examples_test.sh CMAKE PROJECT EXAMPLES BUILD CONFIGURE_ARGUMENT... -- LAUNCHER...: each example compiles against the installed
# package, and verifies what it computes.
set -euo pipefail

cmake=$1 project=$2 examples=$3 build=$4
shift 4
arguments=()
while [ "$1" != -- ]; do
  arguments+=("$1")
  shift
done
shift
rm -rf "$build"
"$cmake" -G Ninja -S "$project" -B "$build" "-DEXAMPLES=$examples" "${arguments[@]}"
"$cmake" --build "$build" --parallel 2
ran=0
for source in "$examples"/*.cpp; do
  "$@" "$build/$(basename "$source" .cpp)"
  ran=$((ran + 1))
done
[ "$ran" -ge 9 ]
