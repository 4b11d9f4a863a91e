#!/usr/bin/env bash
# environment_documented_test.sh SOURCE_FOLDER: what sources and scripts read, what lib/base knows and what
# docs/environment.md explains are the same variables.
set -euo pipefail
cd "$1"
known_in=lib/base/src/environment.cpp
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# names: those on standard input, one per line
names() {
  { grep -oE 'SELVAGE_[A-Z_]+' || true; } | sort -u
}

{
  # In C++ a name in quotes; in a script whatever is expanded.
  grep -rhoE '"SELVAGE_[A-Z_]+"' --include='*.?pp' --exclude="$(basename "$known_in")" lib apps bench
  grep -rhoE '\$\{SELVAGE_[A-Z_]+' scripts
} | names >"$work/read"
grep -oE '"SELVAGE_[A-Z_]+"' "$known_in" | grep -v '"SELVAGE_"' | names >"$work/known"
grep '^|' docs/environment.md | cut -d'|' -f2 | names >"$work/explained"

[ -s "$work/read" ] || {
  echo "no variables found in $1" >&2
  exit 1
}
for other in known explained; do
  diff --label "read by the sources" --label "$other" -u "$work/read" "$work/$other" || {
    echo "the variables that are read and those that are $other differ ($known_in, docs/environment.md)" >&2
    exit 1
  }
done
