#!/usr/bin/env bash
# Input that can't be used ends the program with one clear message and exit code 2, and touches no earlier output.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

out=$scratch/out
small=(--set "system.cells=[4,4,4]" --quiet)
expect_success 1 "${small[@]}" --steps 20 --set restart.every=10 --set output.trajectory_every=10 --out "$out"
restart=$out/restart_00000010.h5
before=$(checksums "$out")

refuse() { expect_failure 2 "$1" 1 "${small[@]}" --steps 30 --out "$out" "${@:2}"; }
# line=N expected=REGEX input LINE...
# shellcheck disable=SC2154 # both are set where it is called
input() {
  printf '%s\n' "$@" >"$scratch/input.toml"
  refuse "input.toml:$line:.*$expected" "$scratch/input.toml"
}

# As a user meets it, once.
line=2 expected="did you mean .*thermo_every" end_to_end input "[output]" "thermo_evry = 10"
line=2 expected="run.dt" input "[run]" 'dt = "short"'
line=2 expected="list.count_dangerous" input "[list]" "count_dangerous = 2"
line=2 expected="system.density" input "[system]" "density = nan"
refuse "did you mean.*--precision" --precison fp32
refuse "no_such.toml" "$scratch/no_such.toml"
refuse "box is 3.35.* sigma long along y, and pair.cutoff \+ list.skin is 6.3" --set "system.cells=[4,2,4]" --set pair.cutoff=6
refuse "gives 4e\+15 atoms to one rank" --set "system.cells=[100000,100000,100000]"

# data EDIT REGEX: sed's EDIT makes a good file bad.
data() {
  cp "$scratch/good.data" "$scratch/bad.data"
  sed -i "$1" "$scratch/bad.data"
  expect_failure 2 "$2" 1 --quiet --steps 1 --out "$out" --state "$scratch/bad.data"
}
{
  printf 'two atoms\n\n2 atoms\n1 atom types\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\n'
  printf 'Atoms\n\n1 1 1 1 1\n2 1 2.5 1 1\n\nVelocities\n\n1 0 0 0\n2 0 0 1\n'
} >"$scratch/good.data"
expect_success 1 --quiet --steps 1 --out "$scratch/two" --state "$scratch/good.data"
data 's/^2 1 2.5 1 1/2 1 9.5 1 1/' "bad.data: atom 2 lies outside the box: x = 9.5, and the box goes from 0 to 9"
data 's/^2 1 2.5 1 1/2 1 1.01 1 1/' "neighbour only 0.01 sigma away at step 0: atoms overlap"
data 's/^2 1 2.5 1 1/2 1 nan 1 1/' "bad.data: atom 2 has a position or velocity that isn't finite"
data 's/^0 9 ylo yhi/0 2 ylo yhi/' "box is 2 sigma long along y"
data "\$d" "bad.data:16: the section Velocities ends after 1 of 2 lines"
data "/^Velocities/,\$d" "bad.data has no velocities: give velocity.temperature"
data "12,\$d" "bad.data:11: the section Atoms ends after 1 of 2 lines"
refuse_state() { expect_failure 2 "$1" 1 --quiet --steps 30 --out "$out" --state "$2"; }
refuse_state "cannot read .*no_such.data: No such file or directory" "$scratch/no_such.data"
refuse_state "cannot read /dev/zero: it is a device" /dev/zero
mkfifo "$scratch/pipe.data"
refuse_state "cannot read .*pipe.data: it is a pipe" "$scratch/pipe.data"
# Holes alone, without an end of a line.
truncate -s 200M "$scratch/holes.data"
refuse_state "holes.data:1: the line has more than 65536 bytes" "$scratch/holes.data"

cp "$restart" "$scratch/truncated.h5"
truncate -s -3000 "$scratch/truncated.h5"
echo "not HDF5" >"$scratch/garbage.h5"
refuse_state "truncated.h5: is not a complete HDF5 file: .*truncated" "$scratch/truncated.h5"
refuse_state "garbage.h5" "$scratch/garbage.h5"
refuse "truncated.h5" --restart "$scratch/truncated.h5"
refuse "no_such.h5" --restart "$scratch/no_such.h5"
refuse "trajectory_00000010.h5: has no attribute" --restart "$out/trajectory_00000010.h5"
refuse "restart_00000010.h5 has 256 atoms, and system.cells gives 500" --restart "$restart" --set "system.cells=[5,5,5]"
for array in velocity image id; do
  # The name of a group: as long, and another.
  sed "s/\x00$array\x00/\x00$(tr '[:lower:]' '[:upper:]' <<<"$array")\x00/g" "$restart" >"$scratch/lacks_$array.h5"
  refuse "has no array 'particles/all/$array/value', which a run needs to go on" --restart "$scratch/lacks_$array.h5"
done
refuse "dt is 0.005.*0.004" --restart "$restart" --set run.dt=0.004
refuse "precision is fp64.*fp32" --restart "$restart" --precision fp32
refuse "cutoff is 2.5.*2.4" --restart "$restart" --set pair.cutoff=2.4
refuse 'it has list.rebuild = "displacement" and list.every = 1, and this run list.rebuild = "fixed" and list.every = 20' \
  --restart "$restart" --set list.rebuild=fixed
refuse "thermostat is none.*langevin" --restart "$restart" --set thermostat.kind=langevin
refuse "after step 10.*run.steps = 5" --restart "$restart" --steps 5

expect_failure 2 "comm.ranks_grid 2x2x1 is for 4 ranks, and there are 2" 2 "${small[@]}" --ranks-grid 2x2x1 --out "$out"
refuse "comm.ranks_grid 2x1x1 is for 2 ranks, and there is 1" --ranks-grid 2x1x1
expect_failure 2 "2 ranks along [xyz] have boxes of 3.35.* sigma, and ghosts reach 4: use fewer ranks" 2 "${small[@]}" \
  --steps 1 --out "$out" --set pair.cutoff=3.7
if [[ $(checksums "$out") != "$before" ]]; then fail "bad input changed earlier output in $out"; fi

# Found out while it runs: a run-time error that names atom and step.
end_to_end expect_failure 1 "atom [0-9]+ moved more than a cutoff \(2.5 sigma\) in step [0-9]+: the time step of 0.1 tau is too long" 1 \
  "${small[@]}" --steps 1000 --set run.dt=0.1 --set restart.every=1 --out "$scratch/blown"
end_to_end expect_failure 1 "atom [0-9]+ moved more than a cutoff .*numeric, rank [01], " 2 "${small[@]}" --steps 1000 --set run.dt=0.1 \
  --out "$scratch/blown_by_two"
if [[ ! -s $scratch/blown/restart_00000001.h5 ]]; then fail "the restart file from before the error is gone"; fi
end_to_end expect_failure 1 "garbage.h5" 1 "${small[@]}" --steps 5 --out "$scratch/garbage.h5/below"

# The plan alone, and what stands in run.json.
expect_success 1 --set "system.cells=[4,4,4]" --check
expect_text "^256 atoms, [0-9]+ ghosts on rank 0, fp64, cutoff 2.5, (full|half) list" "the plan"
grep -q '"unit": "Matom-steps/s"' "$out/run.json" || fail "run.json lacks the figure of merit"
finish
