#include <selvage/error.hpp>
#include <selvage/suggestion.hpp>
#include <selvage/topo/machine.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using selvage::Error;
using selvage::ErrorKind;

constexpr int exit_fine = 0;
constexpr int exit_run_time_error = 1;
constexpr int exit_bad_usage_or_input = 2;

/// MPI for the length of main; also without mpirun, as a job of one rank.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv) { MPI_Init(&argc, &argv); }
  ~MpiSession() { MPI_Finalize(); }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  [[nodiscard]] bool speaks() const {
    int rank = 0;
    selvage::check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    return rank == 0;
  }
};

struct Request {
  std::string text;  ///< what to print instead of working, where not empty
  bool as_json = false;
};

std::string unexpected(const std::string& argument, bool in_show) {
  const std::vector<std::string> known = in_show ? std::vector<std::string>{"--json", "--help"}
                                                 : std::vector<std::string>{"show", "--help", "--version"};
  const char* what = argument.starts_with("-") ? "option" : in_show ? "argument" : "subcommand";
  return fmt::format("unknown {} '{}'{} (selvage-topo --help lists what there is)", what, argument,
                     selvage::did_you_mean(argument, known));
}

/// \throws Error{usage} on a command line that can't be followed
Request parse(int argc, char** argv) {
  Request request;
  CLI::App app(
      "Shows the hosts, processors and GPUs of a job and where its ranks run.\n"
      "Works alone and under mpirun, where rank 0 prints.",
      "selvage-topo");
  app.set_version_flag("--version", "selvage-topo " SELVAGE_VERSION);
  app.allow_extras();
  CLI::App* show = app.add_subcommand("show", "Print the machine under this job");
  show->add_flag("--json", request.as_json, "Print JSON, with the origin of each figure, instead of a table")
      ->disable_flag_override();
  show->allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    request.text = app.help();
    return request;
  } catch (const CLI::CallForVersion&) {
    request.text = app.version() + '\n';
    return request;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, error.what());
  }
  const auto extras = app.remaining(true);
  if (!extras.empty()) throw Error(ErrorKind::usage, unexpected(extras.front(), show->parsed()));
  if (!show->parsed()) throw Error(ErrorKind::usage, "a subcommand is needed, such as 'selvage-topo show'");
  return request;
}

/// \throws Error{io} when standard output takes no more
void print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return;
  throw Error(ErrorKind::io, "cannot write to standard output");
}

/// Collective.
void run(const MpiSession& mpi, int argc, char** argv) {
  const Request request = parse(argc, argv);
  if (!request.text.empty()) {
    if (mpi.speaks()) print(request.text);
    return;
  }
  const auto machine = selvage::topo::detect(MPI_COMM_WORLD);
  if (!mpi.speaks()) return;
  print(request.as_json ? selvage::topo::to_json(machine) + '\n' : selvage::topo::describe(machine));
}

/// Goes on when standard error takes nothing either: the exit code still tells.
void complain(const std::string& message) {
  (void)std::fputs(fmt::format("selvage-topo: {}\n", message).c_str(), stderr);
}

int exit_code(ErrorKind kind) {
  return kind == ErrorKind::usage || kind == ErrorKind::input ? exit_bad_usage_or_input : exit_run_time_error;
}

}  // namespace

int main(int argc, char** argv) {
  const MpiSession mpi(argc, argv);
  try {
    run(mpi, argc, argv);
    return exit_fine;
  } catch (const Error& error) {
    // Usage and input errors are the same on every rank; one message is enough.
    const bool everywhere = exit_code(error.kind()) == exit_bad_usage_or_input;
    if (!everywhere || mpi.speaks()) complain(error.message());
    return exit_code(error.kind());
  } catch (const std::exception& error) {
    complain(error.what());
    return exit_run_time_error;
  }
}
