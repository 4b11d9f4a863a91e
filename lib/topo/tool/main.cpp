#include "command.hpp"

#include <selvage/error.hpp>
#include <selvage/suggestion.hpp>
#include <selvage/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using selvage::Error;
using selvage::ErrorKind;
using selvage::topo::tool::Command;
using selvage::topo::tool::commands;
using selvage::topo::tool::Work;

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

/// What a word could have meant where it stands: options of the subcommand, or subcommands.
std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands(nullptr)) known.push_back(command->get_name());
  for (const CLI::Option* option : app.get_options())
    known.push_back(fmt::format("--{}", option->get_lnames().front()));
  return known;
}

std::string unexpected(const std::string& argument, const CLI::App& app, bool in_subcommand) {
  const char* what = argument.starts_with("-") ? "option" : in_subcommand ? "argument" : "subcommand";
  return fmt::format("unknown {} '{}'{} (selvage-topo --help lists what there is)", what, argument,
                     selvage::did_you_mean(argument.substr(0, argument.find('=')), known_words(app)));
}

/// \throws Error{usage} on a command line that can't be followed
Work parse(int argc, char** argv) {
  CLI::App app(
      "Shows the hosts, processors and GPUs of a job, and finds places for its ranks.\n"
      "Works alone and under mpirun, where rank 0 prints.",
      "selvage-topo");
  app.set_version_flag("--version", fmt::format("selvage-topo {}", selvage::version));
  app.allow_extras();
  std::vector<Work> works;
  for (const Command& command : commands) {
    CLI::App* subcommand = app.add_subcommand(command.name, command.description);
    subcommand->allow_extras();
    works.push_back(command.declare(*subcommand));
  }
  const auto print = [](std::string text) { return [text](bool) { return text; }; };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print(app.help());
  } catch (const CLI::CallForVersion&) {
    return print(app.version() + '\n');
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, error.what());
  }
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const auto extras = app.remaining(true);
  if (!extras.empty()) {
    throw Error(ErrorKind::usage,
                unexpected(extras.front(), parsed.empty() ? app : *parsed.front(), !parsed.empty()));
  }
  if (parsed.empty()) throw Error(ErrorKind::usage, "a subcommand is needed, such as 'selvage-topo show'");
  if (parsed.size() > 1) throw Error(ErrorKind::usage, "one subcommand at a time");
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (parsed.front()->get_name() == commands[i].name) return works[i];
  }
  return {};
}

/// \throws Error{io} when standard output takes no more
void print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return;
  throw Error(ErrorKind::io, "cannot write to standard output");
}

/// Goes on when standard error takes nothing either: the exit code still tells.
/// Arguments and variables may hold what a terminal obeys, so that is replaced.
void complain(std::string message) {
  std::ranges::replace_if(
      message, [](unsigned char c) { return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f; }, '?');
  (void)std::fputs(fmt::format("selvage-topo: {}\n", message).c_str(), stderr);
}

int exit_code(ErrorKind kind) {
  return kind == ErrorKind::usage || kind == ErrorKind::input ? exit_bad_usage_or_input : exit_run_time_error;
}

}  // namespace

int main(int argc, char** argv) {
  const MpiSession mpi(argc, argv);
  try {
    const std::string text = parse(argc, argv)(mpi.speaks());
    if (mpi.speaks()) print(text);
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
