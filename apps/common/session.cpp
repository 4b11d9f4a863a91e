#include "common/session.hpp"

#include "common/address_space.hpp"
#include "common/job.hpp"
#include "common/kokkos_settings.hpp"
#include "common/report.hpp"

#include <selvage/agreement.hpp>
#include <selvage/environment.hpp>
#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

namespace selvage::app {
namespace {

/// How long a rank that lost the claim waits for the winner's abort before it ends the job by itself.
constexpr auto abort_patience = std::chrono::seconds(2);
/// Lets the launcher forward the message before the abort closes the pipes.
constexpr auto forwarding_time = std::chrono::milliseconds(50);

/// What a user needs: for bad input the sentence alone, for the rest also kind, rank and place.
std::string text_of(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  if (ours == nullptr) return std::string(text_of_standard(error));
  if (exit_code_of(error) == 2) return ours->message();
  if (const auto* agreed = dynamic_cast<const AgreedError*>(&error)) {
    return fmt::format("{} [{}, rank {}]", agreed->message(), to_string(agreed->kind()),
                       agreed->first_rank());
  }
  return ours->what();
}

/// Messages quote variables, arguments and files, which may hold what a terminal obeys.
std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f; }, '?');
  return text;
}

void print_error(const AppInfo& info, const std::exception& error) {
  std::fflush(stdout);
  // One write, so that the lines of several hosts can't mix.
  const std::string line = fmt::format("{}: error: {}\n", info.name, printable(text_of(error)));
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

[[noreturn]] void end_all_ranks(ErrorClaim& claim, const AppInfo& info, const std::exception& error) {
  const int code = exit_code_of(error);
  if (claim.claim()) {
    print_error(info, error);
    std::this_thread::sleep_for(forwarding_time);
  } else {
    std::this_thread::sleep_for(abort_patience);
  }
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

/// Kokkos' own arguments, and the device of this rank unless the user has chosen: the host's ranks take
/// turns.
std::vector<std::string> kokkos_arguments(const CommandLine& line, const AppInfo& info, int host_rank) {
  std::vector<std::string> arguments = {info.name};
  arguments.insert(arguments.end(), line.kokkos.begin(), line.kokkos.end());
  const bool chosen = environment_text("KOKKOS_DEVICE_ID") || environment_text("KOKKOS_MAP_DEVICE_ID_BY") ||
                      std::ranges::any_of(line.kokkos, [](const std::string& argument) {
                        return argument.find("device-id") != std::string::npos;
                      });
  const int devices = Kokkos::num_devices();
  if (!chosen && devices > 0) arguments.push_back(fmt::format("--kokkos-device-id={}", host_rank % devices));
  return arguments;
}

/// Kokkos between its initialize and finalize.
class KokkosRuntime {
 public:
  explicit KokkosRuntime(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {
    for (auto& argument : arguments_) pointers_.push_back(argument.data());
    pointers_.push_back(nullptr);
    int count = static_cast<int>(arguments_.size());
    Kokkos::initialize(count, pointers_.data());
  }
  ~KokkosRuntime() { Kokkos::finalize(); }
  KokkosRuntime(const KokkosRuntime&) = delete;
  KokkosRuntime& operator=(const KokkosRuntime&) = delete;

 private:
  std::vector<std::string> arguments_;
  std::vector<char*> pointers_;
};

/// Who waited in vain may have waited for a rank that itself waits, so that all find out who is missing. Nor do ranks end
/// without each other: what follows frees what they share, and waits in MPI.
void run_body(Session& session, const std::function<void(Session&)>& body) {
  try {
    body(session);
  } catch (const AgreedError&) {
    throw;
  } catch (const IncompleteError&) {
    throw;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::timeout) together(session.comm(), "finding the missing", [] { throw; });
    throw;
  }
  together(session.comm(), "the end of the run", [] {});
}

/// Collective. What rank 0 has said must have come out.
void require_output(MPI_Comm comm) {
  together(comm, "writing to standard output", [] {
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw Error(ErrorKind::io, "cannot write to standard output");
  });
}

/// Everything between MPI's start and end; returns the exit code.
int run_checked(MPI_Comm comm, int host_rank, int argc, char** argv, const AppInfo& info,
                const std::function<void(Session&)>& body) {
  CommandLine line;
  together(comm, "reading the command line", [&] {
    line = parse_command_line(argc, argv, info);
    require_kokkos_settings(line.kokkos);
    // Bad, it would be met when the first file is written.
    static_cast<void>(io_timeout_ms());
  });
  if (line.text_only) {
    int rank = 0;
    check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    if (rank == 0) std::fputs(line.text_only->c_str(), stdout);
    require_output(comm);
    return 0;
  }
  const std::string input_text =
      line.input_path ? read_text_everywhere(comm, *line.input_path) : std::string();
  Input input;
  together(comm, "reading the input",
           [&] { input = Input::parse(input_text, line.input_path.value_or(""), line.overrides); });
  // Whoever has started Kokkos before ends it, too.
  std::optional<KokkosRuntime> kokkos;
  if (!Kokkos::is_initialized()) kokkos.emplace(kokkos_arguments(line, info, host_rank));
  Session session(comm, info, std::move(line), std::move(input));
  const auto print_environment = [](Session& own) { Report(own).print_environment(); };
  run_body(session, session.command_line().env ? print_environment : body);
  if (session.exit_code() == 0) require_output(comm);
  return session.exit_code();
}

/// As run_checked(), for errors too: what they say, and how they end the ranks.
int run_in_job(Job& job, int argc, char** argv, const AppInfo& info,
               const std::function<void(Session&)>& body) {
  try {
    return run_checked(job.comm, job.claim->host_rank(), argc, argv, info, body);
  } catch (const AgreedError& error) {
    const int code = exit_code_of(error);
    if (code != 2) end_all_ranks(*job.claim, info, error);
    int rank = 0;
    MPI_Comm_rank(job.comm, &rank);
    if (rank == error.first_rank()) print_error(info, error);
    return code;
  } catch (const std::exception& error) {
    end_all_ranks(*job.claim, info, error);
  } catch (...) {
    end_all_ranks(*job.claim, info, std::runtime_error("an exception of unknown type"));
  }
}

}  // namespace

Session::Session(MPI_Comm comm, AppInfo info, CommandLine command_line, Input input)
    : comm_(comm), info_(std::move(info)), command_line_(std::move(command_line)), input_(std::move(input)) {
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &ranks_), "MPI_Comm_size");
}

void Session::setup(const std::function<void()>& work) {
  together(comm_, "setup", work);
}

void Session::print_line(const std::string& line) {
  fmt::print("{}\n", line);
  // Through a launcher standard output is a pipe or a false terminal: lines should still come as they are
  // said.
  std::fflush(stdout);
}

int exit_code_of(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  if (ours == nullptr) return 1;
  switch (ours->kind()) {
    case ErrorKind::usage:
    case ErrorKind::input:
      return 2;
    case ErrorKind::verification:
      return 3;
    default:
      return 1;
  }
}

int run_app_within_mpi(int argc, char** argv, const AppInfo& info,
                       const std::function<void(Session&)>& body) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int code = 0;
  try {
    const std::shared_ptr<Job> job = start_job();
    code = run_in_job(*job, argc, argv, info, body);
    std::fflush(stdout);
    end_job(job);
  } catch (const std::exception& error) {
    // A run that failed has said why, and keeps its code.
    if (code != 0) end_without_job(rank, code, [] {});
    end_without_job(rank, exit_code_of(error), [&] { print_error(info, error); });
  }
  return code;
}

int run_app(int argc, char** argv, const AppInfo& info, const std::function<void(Session&)>& body) {
  // A file size limit should be a failed write with a message, not a death by signal.
  std::signal(SIGXFSZ, SIG_IGN);
  // Open MPI 4.1 keeps asynchronous file writes in a list without a lock: a proxy's thread that calls MPI meanwhile may crash. 2 makes
  // them synchronous. What the user has set stays.
  setenv("OMPI_MCA_fcoll_vulcan_async_io", "2", 0);
  if (const auto refusal = address_space_refusal()) {
    std::this_thread::sleep_for(turn_of(refusal->rank));
    print_error(info, std::runtime_error(refusal->why));
    return 1;
  }
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int code = run_app_within_mpi(argc, argv, info, body);
  finalize_in_time(info.name, code);
  return code;
}

}  // namespace selvage::app
