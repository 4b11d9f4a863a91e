#pragma once

#include "common/command_line.hpp"
#include "common/input.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <functional>
#include <string>
#include <utility>

namespace selvage::app {

/// What an app's body works with: the ranks, the input, and where messages go. Made by run_app().
class Session {
 public:
  Session(MPI_Comm comm, AppInfo info, CommandLine command_line, Input input);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// A duplicate of MPI_COMM_WORLD that returns errors; valid until the body returns.
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] bool is_root() const { return rank_ == 0; }
  [[nodiscard]] const AppInfo& info() const { return info_; }
  [[nodiscard]] const CommandLine& command_line() const { return command_line_; }
  [[nodiscard]] Input& input() { return input_; }

  /// Whether this rank prints ordinary text: rank 0, without --quiet and --json.
  [[nodiscard]] bool talks() const { return is_root() && !command_line_.quiet && !command_line_.json; }

  /// Prints one line on standard output where talks().
  template <class... Arguments>
  void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    if (talks()) print_line(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  /// Runs a part of the setup (reading input, planning, allocating) so that a failure on any rank ends all
  /// ranks with that one message and its exit code. Collective. Put checks that only some ranks may fail and
  /// the collective calls that depend on them into separate setup() calls.
  void setup(const std::function<void()>& work);

  /// Notes that a verification failed, on any rank: the program then exits with 3.
  void verification_failed() { exit_code_ = 3; }
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  static void print_line(const std::string& line);

  MPI_Comm comm_;
  int rank_ = 0;
  int ranks_ = 1;
  AppInfo info_;
  CommandLine command_line_;
  Input input_;
  int exit_code_ = 0;
};

/// The exit code an error stands for: 2 for usage and input, 3 for verification, 1 for everything else.
[[nodiscard]] int exit_code_of(const std::exception& error);

/// An app's main(): starts MPI (MPI_THREAD_MULTIPLE asked, less accepted) and Kokkos (one device per rank of
/// a host), parses the command line and the input, runs `body`, and returns the exit code for main() to
/// return.
///
/// Exit codes: 0 fine, 1 run-time error, 2 usage or input, 3 verification failed.
///
/// Errors end all ranks with one message on standard error, "<app>: error: ...":
/// - one that all ranks raise together (Session::setup, usage and input): the first failing rank prints, all
/// finalize
///   and return the code;
/// - a wait that ran out: ranks to which that happens call the roll first, and the message also names the rank that
///   doesn't answer;
/// - any other: the rank that claims it first prints, and ends all ranks through MPI_Abort with the code. The
/// ranks of
///   one host claim through a word in shared memory; the losers wait two seconds for the abort to reach them.
[[nodiscard]] int run_app(int argc, char** argv, const AppInfo& info,
                          const std::function<void(Session&)>& body);

/// run_app() where MPI is started already (MPI_THREAD_MULTIPLE), and Kokkos may be: whoever started them ends them. So a
/// process can run a program many times. Collective over MPI_COMM_WORLD.
[[nodiscard]] int run_app_within_mpi(int argc, char** argv, const AppInfo& info,
                                     const std::function<void(Session&)>& body);

}  // namespace selvage::app
