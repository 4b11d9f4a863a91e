#!/usr/bin/env bash
# How a program ends: its exit code, and the one message that it ends with. And what it prints when nothing is wrong.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/../../support/program.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../../support/series.sh"

# For waits that end in vain.
export SELVAGE_TIMEOUT_MS=3000

# ends CODE MESSAGE RANKS ARGUMENT...: with that code, and with exactly one line "probe: error: MESSAGE..."; none where MESSAGE
# is empty. What the launcher adds doesn't count.
ends() {
  local expected_code=$1 message=$2
  shift 2
  run "$@"
  if [[ $code -ne $expected_code ]]; then fail "exit code $code instead of $expected_code: $*"; fi
  local messages
  messages=$(grep -c "error: " "$scratch/output")
  if [[ -z $message ]]; then
    if [[ $messages -ne 0 ]]; then fail "$messages messages instead of none: $*"; fi
    return
  fi
  if [[ $messages -ne 1 ]]; then fail "$messages messages instead of 1: $*"; fi
  if ! grep -qF -- "probe: error: $message" "$scratch/output"; then fail "the message is not '$message': $*"; fi
}

# prints REGEX RANKS ARGUMENT...: all of its output matches, and it ends with 0.
prints() {
  local regex=$1
  shift
  expect_success "$@"
  # The dot keeps the last newline.
  local output
  output=$(cat "$scratch/output" && echo .)
  if ! [[ ${output%.} =~ $regex ]]; then fail "the output does not match '$regex': $*"; fi
}

newline=$'\n'
for ranks in 1 4; do
  ends 0 "" $ranks
  ends 3 "" $ranks --fail verify
  ends 2 "unknown flag '--stepz', did you mean '--steps'?" $ranks --stepz 3
  ends 2 "--set: unknown key 'probe.fial', did you mean 'probe.fail'?" $ranks --set probe.fial=x
  ends 2 "cannot read absent.toml: No such file or directory" $ranks absent.toml
  ends 2 "all mind" $ranks --fail setup-all
  end_to_end ends 1 "everybody is late [timeout, rank " $ranks --fail all
done
ends 2 "only rank 1 minds" 4 --fail setup-one

# Output that nobody can have is no success; by the program itself, since a launcher takes all of it.
for arguments in --help "--quiet" --json; do
  code=0
  "$PROGRAM" "$arguments" >/dev/full 2>"$scratch/output" || code=$?
  if [[ $code -ne 1 ]] || ! grep -q "probe: error: cannot write to standard output" "$scratch/output"; then
    fail "$arguments, with standard output full: exit code $code"
  fi
done

# The same by the program itself: where all ranks end together, and where MPI ends them.
end_to_end ends 0 "" 4
end_to_end ends 3 "" 4 --fail verify
end_to_end ends 2 "unknown flag '--stepz', did you mean '--steps'?" 4 --stepz 3
end_to_end ends 2 "only rank 1 minds" 4 --fail setup-one
end_to_end ends 2 "only rank 1 minds" 4 --fail setup-leaving-others-waiting
end_to_end ends 1 "a disk is full [io, rank 1]" 4 --fail setup-io
end_to_end ends 1 "a disk is full [io, rank 1, probe_app.cpp:" 4 --fail one
end_to_end ends 1 "rank 0 waits, and rank 1 does not answer [timeout, rank " 4 --fail stopped
end_to_end ends 1 "the end of the run: rank 1 did not come within 3000 ms [timeout, rank " 4 --fail stopped-at-the-end
end_to_end ends 3 "rank 1 differs [verification, rank 1" 4 --fail verification
end_to_end ends 1 "a standard exception" 4 --fail standard
end_to_end ends 1 "an exception of unknown type" 4 --fail unknown
# A rank that stops in MPI's own calls of start and end, which know no limit.
# stops_in CALL MESSAGE [CODE ARGUMENT...]
stops_in() { STOP_IN=$1 SELVAGE_TIMEOUT_MS=1000 end_to_end ends "${3:-1}" "$2" 4 "${@:4}"; }
told() { expect_text "^selvage: $1: not done after 333 ms, given up after 1000 ms\$" "what is waited for"; }
stops_in MPI_Comm_dup "the start of the job: not done within 1000 ms, and rank 1 does not answer"
told "the start of the job"
stops_in MPI_Win_allocate_shared "the start of the job: not done within 1000 ms, and rank 1 does not answer"
stops_in MPI_Win_free "the end of the job: not done within 1000 ms, and rank 1 does not answer"
told "the end of the job"
stops_in MPI_Finalize "rank 0 waited 1000 ms in MPI_Finalize for ranks that don't end"
told MPI_Finalize
# After an error no other one is told.
stops_in MPI_Win_free "all mind" 2 --fail setup-all
stops_in MPI_Finalize "all mind" 2 --fail setup-all
# Where no thread can be started, to wait for MPI within a limit: at the start it is an error, at the end MPI has no limit.
REFUSE_THREADS_AFTER=MPI_Init_thread end_to_end ends 1 "no thread can be started: " 2
REFUSE_THREADS_AFTER=MPI_Win_free end_to_end ends 0 "" 2
# A process that leaves without a word ends the job through the launcher; what counts is that nobody hangs.
end_to_end run 4 --fail exit-early
if [[ $code -ne 1 ]]; then fail "exit code $code instead of 1 where a rank exits early"; fi

for ranks in 1 3; do
  prints "^fails as asked${newline}Usage: [^$newline]*probe [^$newline]*INPUT.toml" $ranks --help
  prints "^probe 0\.1\.0$newline\$" $ranks --version
  prints "^a decision${newline}VERIFY ok probe: as asked${newline}FOM: 2 probes/s$newline\$" $ranks
  prints "^VERIFY ok probe: as asked${newline}FOM: 2 probes/s$newline\$" $ranks --quiet
  prints "^\{$newline.*\"unit\": \"probes/s\"$newline  \}$newline\}$newline\$" $ranks --json
  prints "^commit: .*${newline}Kokkos: .*${newline}MPI: .*${newline}ranks: +$ranks$newline" $ranks --env
done
end_to_end prints "^a decision${newline}VERIFY ok probe: as asked${newline}FOM: 2 probes/s$newline\$" 3
# 2 is synchronous; what the user says stays.
SHOW_FILE_WRITES=1 end_to_end prints "^asynchronous writes: 2$newline" 1
OMPI_MCA_fcoll_vulcan_async_io=1 SHOW_FILE_WRITES=1 end_to_end prints "^asynchronous writes: 1$newline" 1
finish
