// selvage-tune: measures allreduce algorithms and writes the table that an Allreduce chooses from.
#include "collectives/allreduce_table_file.hpp"
#include "measure.hpp"
#include "request.hpp"

#include <selvage/agreement.hpp>
#include <selvage/atomic_file.hpp>
#include <selvage/comm/context.hpp>
#include <selvage/error.hpp>
#include <selvage/special_file.hpp>
#include <selvage/topo/machine.hpp>
#include <selvage/version.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace selvage::tune {
namespace {

constexpr std::int64_t mebibyte = 1024 * 1024;

int rank_in_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void say(const std::string& line) {
  if (rank_in_world() != 0) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void complain(const std::string& message) {
  (void)std::fputs(fmt::format("selvage-tune: error: {}\n", message).c_str(), stderr);
}

/// \throws Error{usage} where there is no default place
std::string table_path(const Request& request) {
  if (!request.out.empty()) return request.out;
  if (const auto file = detail::allreduce_table_path()) return file->path;
  throw Error(ErrorKind::usage, fmt::format("--out FILE is needed: {} is off, or there is no HOME",
                                            detail::allreduce_table_variable));
}

/// Such as /dev/stdout: the table is written there, and none is read.
bool is_device(const std::string& path) {
  std::error_code ignored;
  return is_special_file(path) && !std::filesystem::is_directory(path, ignored);
}

/// The file's table, or an empty one where there is no file. \throws Error{input} for a file that is no table
detail::AllreduceTable read_or_empty(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) && !is_device(path) ? detail::AllreduceTable::read(path)
                                                                    : detail::AllreduceTable();
}

/// \throws Error{io}
void write(const std::string& path, const detail::AllreduceTable& table) {
  const auto directory = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!directory.empty()) std::filesystem::create_directories(directory, failed);
  if (failed)
    throw Error(ErrorKind::io, fmt::format("cannot make {}: {}", directory.string(), failed.message()),
                failed.value());
  replace_file(path, table.to_text());
}

/// A file that is no table stays as it is, and one that can't be written is found before anything is measured.
/// \throws Error{input}, Error{io}
void prepare(const std::string& path) {
  const detail::AllreduceTable table = read_or_empty(path);
  if (!is_device(path)) write(path, table);
}

/// \throws Error{input}, Error{io}
void save(const std::string& path, const detail::AllreduceJob& job,
          const std::vector<detail::AllreduceRow>& rows) {
  detail::AllreduceTable table = read_or_empty(path);
  table.merge(job, rows);
  write(path, table);
}

std::string describe(detail::ElementType type, const Measured& measured) {
  const detail::AllreduceRow& row = measured.row;
  std::string text = fmt::format("{:<6}{:>11} bytes  {:<13}{:>9.3g} us", to_string(type), row.bytes, row.best,
                                 row.median_us.at(row.best));
  for (const auto& [name, time] : row.median_us) {
    if (name != row.best) text += fmt::format("  {} {:.3g}", name, time);
  }
  return measured.is_noisy ? text + "  (noisy)" : text;
}

/// All sizes of one type. Collective.
std::vector<detail::AllreduceRow> measure_type(const Context& context, const Request& request,
                                               detail::ElementType type,
                                               const std::vector<std::int64_t>& sizes,
                                               std::set<std::string>& told) {
  std::vector<detail::AllreduceRow> rows;
  for (const std::int64_t bytes : sizes) {
    Measured measured = measure(context, type, request.operation, bytes);
    detail::AllreduceRow& row = measured.row;
    row.version = selvage::version;
    row.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
    for (const auto& [name, reason] : row.skipped) {
      if (told.insert(name + reason).second) say(fmt::format("without {}: {}", name, reason));
    }
    say(describe(type, measured));
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Collective.
void tune(const Request& request) {
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1)
    throw Error(ErrorKind::usage, "one rank has nobody to combine with: mpirun -n 4 selvage-tune");
  const std::int64_t most = request.max_bytes > 0 ? request.max_bytes : (on_host ? 16 : 256) * mebibyte;
  const auto sizes = powers_of_two(request.min_bytes, most);
  std::string path;
  together(context.comm(), "preparing the table", [&] {
    if (context.rank() != 0) return;
    path = table_path(request);
    prepare(path);
  });
  // The built-in rule is what others are measured against.
  setenv(detail::allreduce_table_variable, "off", 1);
  unsetenv("SELVAGE_ALLREDUCE");
  std::set<std::string> told;
  for (const detail::ElementType type : request.types) {
    const auto job = detail::allreduce_job(context.machine(), on_host, type);
    say(detail::describe(job));
    const auto rows = measure_type(context, request, type, sizes, told);
    together(context.comm(), "writing the table", [&] {
      if (context.rank() == 0) save(path, job, rows);
    });
  }
  say(fmt::format("wrote {}", path));
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::input:
      return 2;
    case ErrorKind::verification:
      return 3;
    default:
      return 1;
  }
}

void run(int argc, char** argv) {
  const Request request = parse_request(argc, argv);
  if (!request.text.empty()) {
    if (rank_in_world() == 0) fmt::print("{}", request.text);
    return;
  }
  const Kokkos::ScopeGuard kokkos;
  tune(request);
}

/// The exit code. An error that not every rank raises ends all of them here.
int run_checked(int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const AgreedError& error) {
    if (rank_in_world() == error.first_rank()) complain(error.message());
    return exit_code(error.kind());
  } catch (const Error& error) {
    const int code = exit_code(error.kind());
    if (code != 1) {
      if (rank_in_world() == 0) complain(error.message());
      return code;
    }
    complain(error.what());
  } catch (const std::exception& error) {
    complain(error.what());
  }
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}

}  // namespace
}  // namespace selvage::tune

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int code = selvage::tune::run_checked(argc, argv);
  MPI_Finalize();
  return code;
}
