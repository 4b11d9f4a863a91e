#!/usr/bin/env bash
# A run that was stopped and continued leaves the same bits as one that was not; states go from file to file unchanged.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

common=(--set "system.cells=[6,6,6]" --set output.thermo_every=10 --set restart.every=30
  --set output.trajectory_every=20 --quiet)
for settings in "" "--set list.rebuild=fixed" "--precision fp32" "--precision mixed" \
  "--set thermostat.kind=langevin --set thermostat.damping=0.5" "--set thermostat.kind=nose-hoover"; do
  read -ra more <<<"$settings"
  rm -rf "$scratch/whole" "$scratch/parts"
  expect_success 1 "${common[@]}" "${more[@]}" --steps 65 --out "$scratch/whole"
  expect_success 1 "${common[@]}" "${more[@]}" --steps 30 --out "$scratch/parts"
  # What a run that went on after step 30 and crashed would have left: rows that the continued run writes again.
  printf '40,9,9,9,9,9\n50,9,9' >>"$scratch/parts/thermo.csv"
  first_end_to_end expect_success 1 "${common[@]}" "${more[@]}" --steps 65 --out "$scratch/parts" \
    --restart "$scratch/parts/restart_00000030.h5"
  for file in thermo.csv restart_00000060.h5 trajectory_00000040.h5 trajectory_00000060.h5; do
    cmp "$scratch/whole/$file" "$scratch/parts/$file" || fail "$file differs: $settings"
  done
done

# Whether a step is measured changes no bit of it: step 30 is measured by the run that goes on there alone.
for precision in fp32 mixed fp64; do
  for kind in full half; do
    odd=("${common[@]}" --precision "$precision" --set list.kind="$kind" --set output.thermo_every=7)
    rm -rf "$scratch/odd" "$scratch/odd_parts"
    expect_success 1 "${odd[@]}" --steps 65 --out "$scratch/odd"
    expect_success 1 "${odd[@]}" --steps 65 --out "$scratch/odd_parts" --restart "$scratch/odd/restart_00000030.h5"
    cmp "$scratch/odd/restart_00000060.h5" "$scratch/odd_parts/restart_00000060.h5" || fail "bits depend on measured steps: $precision, $kind"
  done
done

# A continued run's series has the frames from before, too.
cmp "$scratch/whole/trajectory.xdmf" "$scratch/parts/trajectory.xdmf" || fail "trajectory.xdmf differs"
frames=$(grep -c 'trajectory_000000[0246]0.h5:/particles/all/position/value' "$scratch/parts/trajectory.xdmf")
if [[ $frames -ne 4 ]]; then fail "trajectory.xdmf has $frames frames instead of 4"; fi

# On several ranks, with atoms that have changed ranks in between.
had_first=
for settings in "2" "4 --set list.rebuild=fixed" "4 --set thermostat.kind=nose-hoover"; do
  read -ra more <<<"$settings"
  wide=("${more[0]}" "${common[@]}" --set "system.cells=[8,8,8]" "${more[@]:1}")
  rm -rf "$scratch/wide" "$scratch/parts"
  expect_success "${wide[@]}" --steps 65 --out "$scratch/wide"
  expect_success "${wide[@]}" --steps 30 --out "$scratch/parts"
  first_end_to_end expect_success "${wide[@]}" --steps 65 --out "$scratch/parts" --restart "$scratch/parts/restart_00000030.h5"
  for file in thermo.csv restart_00000060.h5 trajectory_00000060.h5; do
    cmp "$scratch/wide/$file" "$scratch/parts/$file" || fail "$file differs on $settings"
  done
done

# A frame as the start of another run: the same energy, and velocities kept unless a temperature is given.
energy_of() { awk -F, -v step="$2" '$1 == step { print $3, $2 }' "$1/thermo.csv"; }
expect_success 1 --state "$scratch/whole/trajectory_00000060.h5" --quiet --steps 0 --out "$scratch/again"
first=$(energy_of "$scratch/again" 0) before=$(energy_of "$scratch/whole" 60)
if ! awk -v a="$first" -v b="$before" 'BEGIN { split(a, x); split(b, y); exit !((x[1] / y[1] - 1) ^ 2 < 1e-24 &&
                                       (x[2] / y[2] - 1) ^ 2 < 1e-24) }'; then
  fail "a trajectory's frame starts with energy and temperature $first instead of $before"
fi
expect_success 1 --state "$scratch/whole/trajectory_00000060.h5" --quiet --steps 0 --out "$scratch/again" \
  --set velocity.temperature=3.0
if [[ $(energy_of "$scratch/again" 0 | cut -d ' ' -f 2 | cut -c 1-4) != 3* &&
  $(energy_of "$scratch/again" 0 | cut -d ' ' -f 2 | cut -c 1-6) != 2.9999 ]]; then
  fail "velocities were not drawn anew"
fi

flip_bit "$scratch/parts/restart_00000030.h5"
expect_failure 2 "restart_00000030.h5: the values of 'particles/all/[a-z]+/value' are damaged: the checksum of" \
  2 "${common[@]}" --set "system.cells=[8,8,8]" --set thermostat.kind=nose-hoover --steps 65 --out "$scratch/other" \
  --restart "$scratch/parts/restart_00000030.h5"
finish
