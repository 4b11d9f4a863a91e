#!/usr/bin/env bash
# Planes between ranks follow a droplet: ranks hold as many atoms each, and the physics is that of one rank. A restart, on as
# many ranks or on others, goes on as if nothing had happened.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

# columns FILE STEP: temperature, energies and pressure.
columns() { awk -F, -v step="$2" '$1 == step { print $2, $3, $4, $5 }' "$1/thermo.csv"; }
# expect_same A B WHAT: four figures, equal to 1e-10 (the pressure is a small difference of large sums: to 1e-10 of its parts).
expect_same() {
  awk -v a="$1" -v b="$2" 'BEGIN { if (split(a, x) != 4 || split(b, y) != 4) exit 1
    for (i = 1; i <= 4; ++i) { d = x[i] - y[i]; if (d < 0) d = -d; s = i < 4 && x[i] < 0 ? -x[i] : i < 4 ? x[i] : 1
      if (!(d <= 1e-10 * s)) exit 1 } }' || fail "$3: $1 instead of $2"
}
result() { sed -n "s/^ *\"$2\": \([0-9.e+-]*\),*$/\1/p" "$1/run.json"; }
expect_imbalance() {
  awk -v found="$(result "$1" atom_imbalance)" "BEGIN { exit !(found >= 1 && found $2) }" ||
    fail "imbalance $(result "$1" atom_imbalance) isn't $2: $3"
}

droplet=("$INPUTS/droplet.toml" --quiet --set output.thermo_every=50)
expect_success 1 "${droplet[@]}" --steps 50 --set run.verify=false --out "$scratch/one"
for ranks in 4 8; do
  expect_success "$ranks" "${droplet[@]}" --steps 50 --set run.verify=false --out "$scratch/several"
  expect_imbalance "$scratch/several" "< 1.1" "$ranks ranks"
  expect_same "$(columns "$scratch/several" 50)" "$(columns "$scratch/one" 50)" "$ranks ranks at step 50"
  if [[ $(result "$scratch/several" planes_moved) -lt 1 ]]; then fail "no plane moved during the run on $ranks ranks"; fi
done
expect_success 4 "${droplet[@]}" --steps 20 --set balance.kind=none --set run.verify=false --out "$scratch/equal"
expect_imbalance "$scratch/equal" "> 1.3" "the test proves nothing"

# As shipped, though shorter: energy, momentum and the forces of all pairs.
steps=200
if is_full; then steps=500; fi
expect_success 4 "$INPUTS/droplet.toml" --quiet --steps "$steps" --out "$scratch/whole"
for what in momentum energy forces; do expect_text "^VERIFY ok $what" "the droplet on 4 ranks"; done
expect_imbalance "$scratch/whole" "< 1.1" "the whole run on 4 ranks"
expect_success 8 "$INPUTS/droplet.toml" --quiet --steps "$((steps * 2 / 5))" --out "$scratch/whole"
expect_imbalance "$scratch/whole" "< 1.1" "8 ranks"

# A run of any length is verified, wherever its rows fall.
for case in "1 --steps 20" "1 --steps 60 --set output.thermo_every=1" "4 --steps 20 --set output.thermo_every=7"; do
  read -ra more <<<"$case"
  expect_success "${more[0]}" "$INPUTS/droplet.toml" --quiet --out "$scratch/short" "${more[@]:1}"
  expect_text "^VERIFY ok energy" "the droplet on $case"
done

# Bits of a restart on as many ranks, values on others. Half lists add by atomics on GPUs, each time in another order.
parts=("${droplet[@]}" --set restart.every=40 --set run.verify=false --set output.thermo_every=20)
for settings in "--set list.kind=half" "--precision fp32 --set balance.every=2" \
  "--set list.rebuild=fixed --set list.every=10 --set thermostat.kind=langevin"; do
  read -ra more <<<"$settings"
  rm -rf "$scratch/whole" "$scratch/parts"
  expect_success 4 "${parts[@]}" "${more[@]}" --steps 100 --out "$scratch/whole"
  expect_success 4 "${parts[@]}" "${more[@]}" --steps 40 --out "$scratch/parts"
  first_end_to_end expect_success 4 "${parts[@]}" "${more[@]}" --steps 100 --out "$scratch/parts" \
    --restart "$scratch/parts/restart_00000040.h5"
  if [[ $settings == *half* ]] && grep -q '"CUDA": ' "$scratch/whole/run.json"; then
    expect_same "$(columns "$scratch/parts" 100)" "$(columns "$scratch/whole" 100)" "continued: $settings"
    continue
  fi
  for file in thermo.csv restart_00000080.h5; do
    cmp "$scratch/whole/$file" "$scratch/parts/$file" || fail "$file differs: $settings"
  done
done
for ranks in 1 3 8; do
  expect_success "$ranks" "${parts[@]}" "${more[@]}" --steps 80 --out "$scratch/others" \
    --restart "$scratch/parts/restart_00000040.h5"
  expect_same "$(columns "$scratch/others" 80)" "$(columns "$scratch/whole" 80)" "continued on $ranks ranks"
  rm -rf "$scratch/others"
done

# The plan says how the box is cut.
expect_success 8 "$INPUTS/droplet.toml" --check
expect_text "^2 x 2 x 2 boxes with sides of [0-9.]+ to [0-9.]+ sigma, [0-9]+ to [0-9]+ atoms per rank, imbalance 1\." "the plan"
finish
