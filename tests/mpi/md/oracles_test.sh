#!/usr/bin/env bash
# The shipped inputs and what is known about them: LAMMPS's figures for its benchmark, kept energy, forces of all pairs.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

quiet=(--out "$scratch/out" --quiet)
# As many steps as the input has, or, in the short form, five of the table's eleven rows, with two new lists of neighbours.
length=(--steps 40) kernel_steps=50 drift_steps=1000
if is_full; then length=() kernel_steps=100 drift_steps=2000; fi
for settings in "--set list.kind=half" "--precision mixed" "--precision fp32"; do
  read -ra more <<<"$settings"
  expect_success 1 "$INPUTS/lj.toml" "${quiet[@]}" "${length[@]}" "${more[@]}"
  expect_text "^VERIFY ok known figures" "lj.toml $settings"
  expect_text "^VERIFY ok momentum" "lj.toml $settings"
  expect_text "^FOM: [0-9.e+-]+ Matom-steps/s$" "lj.toml $settings"
done
# Several ranks: boxes that are cut along one, two and all axes, ghosts' forces carried back, hosts that share no memory.
for case in "2 --precision mixed" "3 --set list.kind=half" "4 --steps 100" "8 --set list.kind=half"; do
  read -ra more <<<"$case"
  expect_success "${more[0]}" "$INPUTS/lj.toml" "${quiet[@]}" "${length[@]}" "${more[@]:1}"
  expect_text "^VERIFY ok known figures" "lj.toml on $case"
  expect_text "^VERIFY ok momentum" "lj.toml on $case"
done
# Boxes and paths that the flags ask for, where the plan says so.
paths=("3 1x3x1 mpi_staged host" "2 1x2x1 peer kernel")
if mpi_takes_views 2 "$INPUTS/lj.toml" "${quiet[@]}" --steps 1 --transport mpi_direct; then
  paths+=("4 4x1x1 mpi_direct stream" "2 2x1x1 mpi_direct queue")
fi
for case in "${paths[@]}"; do
  read -r ranks grid transport initiation <<<"$case"
  expect_success "$ranks" "$INPUTS/lj.toml" --out "$scratch/out" --ranks-grid "$grid" --transport "$transport" \
    --initiation "$initiation" --steps 20
  expect_text "^${grid//x/ x } boxes with sides" "the grid of $case"
  expect_text "^  rank [01]: $transport, $initiation, .* forced by the option transport" "the path of $case"
  expect_text "^VERIFY ok known figures" "lj.toml on $case"
done
# Ghosts that kernels send by themselves, in steps in which nothing is measured.
for ranks in 1 2 4; do
  SELVAGE_INITIATION=kernel expect_success "$ranks" "$INPUTS/lj.toml" "${quiet[@]}" --set list.kind=full \
    --set output.thermo_every=50 --steps "$kernel_steps"
  expect_text "^VERIFY ok known figures" "lj.toml by kernels on $ranks"
done
# Ghosts that the proxy carries.
for settings in "2" "4 --set list.kind=half"; do
  read -ra more <<<"$settings"
  SELVAGE_INITIATION=queue expect_success "${more[0]}" "$INPUTS/lj.toml" "${quiet[@]}" "${length[@]}" "${more[@]:1}"
  expect_text "^VERIFY ok known figures" "lj.toml by the proxy on $settings"
done
SELVAGE_LOGICAL_HOSTS=2x2 expect_success 4 "$INPUTS/lj.toml" "${quiet[@]}" "${length[@]}"
expect_text "^VERIFY ok known figures" "lj.toml on 2x2 logical hosts"
expect_success 4 "$INPUTS/drift.toml" "${quiet[@]}" --steps $((drift_steps / 5))
expect_text "^VERIFY ok energy" "drift.toml on 4 ranks"

# Both ends of the table were compared, not only some row: 11 rows, 10 digits at step 100 in fp64.
expect_success 1 "$INPUTS/lj.toml" "${quiet[@]}"
expect_text "^VERIFY ok known figures" "lj.toml"
expect_text "^VERIFY ok momentum" "lj.toml"
expect_text "^FOM: [0-9.e+-]+ Matom-steps/s$" "lj.toml"
if [[ $(wc -l <"$scratch/out/thermo.csv") -ne 12 ]]; then fail "thermo.csv hasn't 11 rows"; fi
row=$(awk -F, '$1 == 100 { printf "%.10g %.10g %.10g %.9g", $2, $3, $4, $5 }' "$scratch/out/thermo.csv")
if [[ $row != "0.7574531032 -5.758505486 -4.622361337 0.207261054" ]]; then fail "step 100 is $row"; fi

expect_success 1 "$INPUTS/drift.toml" "${quiet[@]}" --steps $drift_steps
expect_text "^VERIFY ok energy" "drift.toml"
expect_text "^VERIFY ok forces" "drift.toml"
drift=$(awk -F, 'NR == 2 { first = $4 } NR > 1 { d = $4 - first; if (d < 0) d = -d; if (d > most) most = d } END { print most }' \
  "$scratch/out/thermo.csv")
awk -v drift="$drift" 'BEGIN { exit !(drift <= 7e-5) }' || fail "drift.toml's energy strays by $drift every 100 steps"

# The table's columns are LAMMPS's.
expect_success 1 "$INPUTS/lj.toml" --out "$scratch/out" --steps 10
expect_text "^ *Step +Temp +E_pair +E_mol +TotEng +Press$" "the head of the table"
expect_text "^ *10 +1.12539487029 +-6.30005271976 +0 +-4.61201316721 +-2.559685226$" "step 10"

# A gas that would have 3e14 cells of half a cutoff, with pairs here and there.
{
  printf 'a gas\n\n400 atoms\n1 atom types\n-1e5 1e5 xlo xhi\n-1e5 1e5 ylo yhi\n-1e5 1e5 zlo zhi\n\nAtoms # atomic\n\n'
  awk 'BEGIN { srand(7); for (i = 1; i < 400; i += 2) { x = 2e5 * rand() - 1e5; y = 2e5 * rand() - 1e5; z = 99998 * (rand() < 0.5 ? -1 : 1)
    printf "%d 1 %.6f %.6f %.6f\n%d 1 %.6f %.6f %.6f\n", i, x, y, z, i + 1, x, y, z + 1.2 } }'
} >"$scratch/gas.data"
for ranks in 1 2; do
  expect_success "$ranks" --state "$scratch/gas.data" --set velocity.temperature=1 --steps 40 --verify "${quiet[@]}"
  expect_text "^VERIFY ok forces" "a gas on $ranks"
done

# What isn't known isn't verified: that is a failure too.
run 1 "${quiet[@]}" --verify --steps 2 --set thermostat.kind=langevin
if [[ $code -ne 3 ]]; then fail "exit code $code instead of 3 where nothing could be verified"; fi
expect_text "^VERIFY failed anything" "no oracle"
finish
