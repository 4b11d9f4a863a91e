#!/usr/bin/env bash
# For a machine with many cores and an hour: the sanitizers over the tests, and campaigns of kills, stops, damages and cut links at the
# same time.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  cat <<EOF
usage: scripts/soak.sh [--seconds N] [--seed N] [--only REGEX] [OUT]   (out/soak)

Builds the presets serial, asan and tsan. Runs all tests of asan but those labelled full, the tests of lib/comm of tsan, and beside them
one tests/campaign/campaign.py per six cores, of four kinds in turn: hosts (as root), kill,stop, damage, damage. Prints at the end how
many tries of each kind were made and failed, and which tests failed. The logs are in OUT.

  --seconds N   no try of a campaign begins later (3600)
  --seed N      of the first campaign; the others have the numbers after it (another one each time)
  --only REGEX  parts whose names match: asan, tsan, campaign
EOF
}

is_wanted() { [[ $1 =~ $only ]]; }

build_all() {
  ! is_wanted campaign || (configure_and_build serial lib/all apps/all)
  ! is_wanted asan || (configure_and_build asan lib/all apps/all examples/all tests/all)
  ! is_wanted tsan || (configure_and_build tsan lib/comm/all tests/unit/comm/all tests/mpi/comm/all)
}

# sanitized PRESET CTEST_ARGUMENT...: on a share of the cores, since the campaigns have the others.
sanitized() {
  local preset=$1
  shift
  is_wanted "$preset" || return 0
  (use_dependencies serial && ctest --preset "$preset" --parallel "$((jobs / 4 + 2))" --label-exclude '^full$' "$@") >"$out/$preset.log" 2>&1
}

# campaign SEED KINDS: where it could not be made, for a reason that it tells, it ends with 77.
campaign() {
  local status=0
  "$repository/tests/campaign/campaign.py" --build "$repository/build/serial" --seconds "$seconds" --seed "$1" --kinds "$2" || status=$?
  [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || echo "FAILED: the campaign of $2 with seed $1 ended with exit code $status"
}

campaigns() {
  local kinds=(hosts "kill,stop" damage damage) lane
  is_wanted campaign || return 0
  use_dependencies serial
  export PYTHONDONTWRITEBYTECODE=1
  for ((lane = 0; lane < jobs / 6 || lane < 1; ++lane)); do
    campaign "$((seed + lane))" "${kinds[lane % ${#kinds[@]}]}" >"$out/campaign-$lane.log" 2>&1 &
  done
  wait
}

# Prints what became of everything. Fails where anything did.
report() {
  local preset failures=0 logs=("$out"/campaign-*.log)
  for preset in asan tsan; do
    [ -e "$out/$preset.log" ] || continue
    echo "$preset: $(grep -E '% tests passed' "$out/$preset.log" || echo 'ctest did not end')"
    sed -n '/^The following tests FAILED/,/^Errors/p' "$out/$preset.log" | grep -E '^\s+[0-9]+ - ' || true
    grep -q '^100% tests passed' "$out/$preset.log" || failures=1
  done
  if [ -e "${logs[0]}" ]; then
    if grep -h -A 45 '^FAILED' "${logs[@]}"; then failures=1; fi
    grep -h '^skipped' "${logs[@]}" || true
    # Of rows "kind app tries early failures".
    awk '$1 ~ /^(kill|stop|damage|hosts)$/ && NF == 5 { tries[$1] += $3; failed[$1] += $5 }
         END { for (kind in tries) printf "%s: %d tries, %d failures\n", kind, tries[kind], failed[kind] }' "${logs[@]}"
  fi
  return "$failures"
}

seconds=3600 seed=$RANDOM only=.
while [[ ${1:-} == -* ]]; do
  case $1 in
    --help | -h)
      usage
      exit
      ;;
    --seconds | --seed | --only)
      printf -v "${1#--}" %s "${2:?$1 needs a value}"
      shift 2
      ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
done
out=$(realpath -m "${1:-$repository/out/soak}")
mkdir -p "$out"
cd "$repository"
rm -f "$out"/*.log
build_all
echo "==> sanitizers and campaigns, seeds from $seed"
sanitized asan &
sanitized tsan --tests-regex '^comm\.' &
(campaigns) &
wait
report
