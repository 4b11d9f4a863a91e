#include "series.hpp"

#include <Kokkos_Core.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::app::testing_support {
namespace {

/// Standard output and standard error go to the end of a file.
class Captured {
 public:
  explicit Captured(const std::string& path) {
    flush();
    const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      before_[i] = dup(streams[i]);
      dup2(file, streams[i]);
    }
    close(file);
  }
  ~Captured() {
    flush();
    for (std::size_t i = 0; i < streams.size(); ++i) {
      dup2(before_[i], streams[i]);
      close(before_[i]);
    }
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

 private:
  static constexpr std::array streams{STDOUT_FILENO, STDERR_FILENO};

  static void flush() {
    std::fflush(stdout);
    std::fflush(stderr);
  }

  std::array<int, streams.size()> before_{};
};

/// What the script asks for: variables NAME=VALUE, an empty text, arguments; each ends with a zero.
struct Order {
  std::vector<std::string> variables;
  std::vector<std::string> arguments;
};

Order read_order(const std::string& path) {
  Order order;
  std::ifstream file(path);
  std::string text;
  while (std::getline(file, text, '\0') && !text.empty()) order.variables.push_back(text);
  while (std::getline(file, text, '\0')) order.arguments.push_back(text);
  return order;
}

/// SELVAGE_... as the script's environment has them, and no others.
void set_variables(const std::vector<std::string>& variables) {
  std::vector<std::string> old;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable(*each);
    if (variable.starts_with("SELVAGE_")) old.emplace_back(variable.substr(0, variable.find('=')));
  }
  for (const std::string& name : old) unsetenv(name.c_str());
  for (const std::string& variable : variables) {
    const std::size_t end = variable.find('=');
    setenv(variable.substr(0, end).c_str(), variable.substr(end + 1).c_str(), 1);
  }
}

/// The exit code that a launcher would pass on. Collective.
int run_once(const std::string& folder, const AppInfo& info, const std::function<void(Session&)>& body) {
  Order order = read_order(folder + "/order");
  set_variables(order.variables);
  std::string name = info.name;
  std::vector<char*> arguments = {name.data()};
  for (std::string& argument : order.arguments) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  int code = 0;
  {
    const Captured captured(folder + "/output");
    code = run_app_within_mpi(static_cast<int>(arguments.size()) - 1, arguments.data(), info, body);
  }
  // Afterwards the output of all ranks is there.
  int worst = 0;
  MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

/// A line from the rank's own pipe is a run to make. The pipe ends with the script, so that nobody waits for ever; and a rank
/// that waits in a read leaves the cores to others.
void run_orders(const std::string& folder, const AppInfo& info, const std::function<void(Session&)>& body) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::ifstream orders(fmt::format("{}/rank{}", folder, rank));
  std::ofstream done;
  if (rank == 0) done.open(folder + "/done");
  for (std::string line; std::getline(orders, line) && line == "run";) {
    const int code = run_once(folder, info, body);
    if (rank == 0) done << code << std::endl;
  }
}

}  // namespace

int run_series(int argc, char** argv, const AppInfo& info, const std::function<void(Session&)>& body) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  {
    const Kokkos::ScopeGuard kokkos;
    run_orders(argv[1], info, body);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace selvage::app::testing_support
