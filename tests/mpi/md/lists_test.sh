#!/usr/bin/env bash
# Neighbour lists that may have lacked pairs are counted and warned of, and the default ones never do.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

out=$scratch/out
# expect_dangerous COUNT REBUILDS WHAT: what the last run warned of and wrote.
expect_dangerous() {
  local found
  expect_text "^md: warning: in $1 of $2 of the neighbour list an atom had moved more than half the skin \(0.15\) before" "$3"
  if [[ $(grep -c '^md: warning:' "$scratch/output") -ne 1 ]]; then fail "not exactly one warning: $3"; fi
  found=$(sed -n 's/^ *"dangerous_rebuilds": \([0-9]*\),*$/\1/p' "$out/run.json")
  if [[ $found != "$1" ]]; then fail "run.json has '$found' dangerous rebuilds instead of $1: $3"; fi
}
expect_no_warning() {
  if grep -q 'warning' "$scratch/output"; then fail "a warning: $1"; fi
}
energy() { awk -F, 'END { print $4 }' "$out/thermo.csv"; }
# is_near A B DIFFERENCE
is_near() { awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN { d = a - b; exit !(a != "" && d <= most && -d <= most) }'; }

# One atom flies, 0.2 in 20 steps and 0.1 in the 10 before a restart file, and its rank alone sees it.
{
  printf 'two atoms\n\n2 atoms\n1 atom types\n0 12 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\n'
  printf 'Atoms\n\n1 1 2 2 2\n2 1 8 6 6\n\nVelocities\n\n1 0 0 0\n2 0 2 0\n'
} >"$scratch/flying.data"
flying=(--state "$scratch/flying.data" --quiet --out "$out" --steps 100 --set restart.every=50)
for ranks in 1 2; do
  end_to_end expect_success "$ranks" "${flying[@]}" --set list.rebuild=fixed
  expect_dangerous 4 "6 rebuilds" "a flying atom on $ranks"
  expect_success "$ranks" "${flying[@]}" --set list.rebuild=fixed --set list.every=10
  expect_no_warning "a flying atom on $ranks, lists every 10 steps"
  expect_success "$ranks" "${flying[@]}" --set list.every=16
  expect_dangerous 6 "8 rebuilds" "a flying atom on $ranks, checked every 16 steps"
  expect_text "set a thicker list.skin or a smaller list.every$" "the advice where displacements are checked"
done

# A hot fluid: the default keeps the energy that new lists in every step give, and lists of 20 steps don't.
hot=(--set "system.cells=[6,6,6]" --set velocity.temperature=3 --set pair.cutoff=3 --set pair.shifted=true --quiet
  --out "$out" --steps 200)
expect_success 1 "${hot[@]}" --set list.rebuild=fixed --set list.every=1
expect_no_warning "new lists in every step"
exact=$(energy)
for ranks in 1 2; do
  expect_success "$ranks" "${hot[@]}"
  expect_no_warning "the default on $ranks"
  is_near "$(energy)" "$exact" 1e-8 || fail "the energy is $(energy) instead of $exact by default on $ranks"
  expect_success "$ranks" "${hot[@]}" --set list.rebuild=fixed
  expect_dangerous 10 "10 rebuilds" "a hot fluid on $ranks"
  expect_text "set list.rebuild = displacement, a thicker list.skin or a smaller list.every$" "the advice for fixed lists"
  if is_near "$(energy)" "$exact" 1e-4; then fail "fixed lists lack no pairs, so the test proves nothing"; fi
done

# The benchmark, whose known figures are those of such lists, says so itself.
benchmark=("$INPUTS/lj.toml" --quiet --out "$out" --steps 40)
expect_success 2 "${benchmark[@]}"
expect_no_warning "lj.toml"
if grep -q dangerous_rebuilds "$out/run.json"; then fail "run.json counts what was not looked at"; fi
expect_success 1 "${benchmark[@]}" --set list.count_dangerous=true
expect_dangerous 2 "2 rebuilds" "lj.toml, where they are counted"
finish
