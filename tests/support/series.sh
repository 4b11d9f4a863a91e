# shellcheck shell=bash
# Sourced after program.sh: one process per rank makes all runs on as many ranks, since starting and ending a job takes longer
# than most runs. It needs SERIES, a program with run_series() as its main. Each run has the environment of the script, as far
# as SELVAGE_... goes. A run that ends all ranks by itself ends the process too, and the next run starts another. In the long
# form of a test each run starts the program.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/children.sh"
: "${SERIES:?}"

# Each by the number of ranks: the launcher, and the pipe on which the series tells its exit codes.
declare -A series_pids series_codes
# Of all series; closing the pipes to the ranks ends it.
declare -A series_pipes

run() {
  if is_full || [[ -n ${runs_by_itself:-} ]]; then run_by_itself "$@"; else run_in_series "$@"; fi
}

# end_to_end COMMAND...: its runs start the program, as a user would.
end_to_end() {
  local runs_by_itself=1
  "$@"
}

# first_end_to_end COMMAND...: the first of these in a script; the others run in series. For what must not depend on anything
# that an earlier run has left in memory.
first_end_to_end() {
  if [[ -n ${had_first:-} ]]; then
    "$@"
  else
    had_first=1
    end_to_end "$@"
  fi
}

# shellcheck disable=SC2154 # of program.sh
series_of() { echo "$scratch/series$1"; }

start_series() {
  local ranks=$1 folder rank pipe pipes=()
  folder=$(series_of "$ranks")
  mkdir -p "$folder"
  rm -f "$folder"/*
  mkfifo "$folder/done"
  for ((rank = 0; rank < ranks; ++rank)); do mkfifo "$folder/rank$rank"; done
  # LAUNCHER is a command line.
  # shellcheck disable=SC2086
  $LAUNCHER "$ranks" "$SERIES" "$folder" >"$folder/launcher" 2>&1 </dev/null &
  series_pids[$ranks]=$!
  # For reading too, so that opening them waits for nobody.
  exec {pipe}<>"$folder/done"
  series_codes[$ranks]=$pipe
  for ((rank = 0; rank < ranks; ++rank)); do
    exec {pipe}<>"$folder/rank$rank"
    pipes+=("$pipe")
  done
  series_pipes[$ranks]=${pipes[*]}
}

# tell_series RANKS TEXT
tell_series() {
  local pipe
  for pipe in ${series_pipes[$1]}; do echo "$2" >&"$pipe"; done
}

# forget_series RANKS: which has ended, or is about to; its exit code in $code.
forget_series() {
  local pipe
  wait "${series_pids[$1]}"
  code=$?
  for pipe in ${series_pipes[$1]} ${series_codes[$1]}; do exec {pipe}>&-; done
  unset "series_pids[$1]" "series_pipes[$1]" "series_codes[$1]"
}

# wait_for_series RANKS: until its run is over; the exit code in $code.
wait_for_series() {
  local part
  code=
  # A read that runs out of time has taken what there was of the line.
  until read -r -t 0.1 -u "${series_codes[$1]}" part; do
    code+=$part
    if ! still_runs "${series_pids[$1]}"; then
      # It may have ended just after the run.
      if ! read -r -t 0.1 -u "${series_codes[$1]}" part; then
        forget_series "$1"
        return
      fi
      break
    fi
  done
  code+=$part
}

run_in_series() {
  local ranks=$1 folder
  shift
  folder=$(series_of "$ranks")
  if [[ -z ${series_pids[$ranks]:-} ]]; then start_series "$ranks"; fi
  : >"$folder/output"
  {
    env --null | grep -z '^SELVAGE_'
    printf '\0'
    if [[ $# -gt 0 ]]; then printf '%s\0' "$@"; fi
  } >"$folder/order"
  tell_series "$ranks" run
  wait_for_series "$ranks"
  cp "$folder/output" "$scratch/output"
  # One that ended before a run could say anything.
  if [[ $code -ne 0 && ! -s $scratch/output ]]; then cp "$folder/launcher" "$scratch/output"; fi
}

# All series must end well: what their runs have left behind would show when MPI and Kokkos end.
end_series() {
  local ranks
  for ranks in "${!series_pids[@]}"; do
    tell_series "$ranks" end
    forget_series "$ranks"
    if [[ $code -ne 0 ]]; then
      cp "$(series_of "$ranks")/launcher" "$scratch/output"
      fail "the series on $ranks ranks ended with $code"
    fi
  done
}
