#include "mpi_main.hpp"

#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

namespace selvage::bench {
namespace {

class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

/// Takes `--selvage_records=FILE` out, and on ranks other than 0 what would write Google Benchmark's own
/// file.
std::string filter_arguments(std::vector<char*>& arguments, int rank) {
  constexpr std::string_view records_flag = "--selvage_records=";
  std::string records_path;
  std::erase_if(arguments, [&](const char* argument) {
    const std::string_view text(argument);
    if (text.starts_with(records_flag)) records_path = text.substr(records_flag.size());
    return text.starts_with(records_flag) || (rank != 0 && text.starts_with("--benchmark_out"));
  });
  return records_path;
}

void run(int argc, char** argv, const std::function<void(MPI_Comm, std::vector<Record>&)>& register_all) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<char*> arguments(argv, argv + argc);
  const std::string records_path = filter_arguments(arguments, rank);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) {
    throw Error(ErrorKind::usage, "unknown flag");
  }
  std::vector<Record> records;
  register_all(MPI_COMM_WORLD, records);
  Silent silent;
  if (rank == 0) {
    benchmark::RunSpecifiedBenchmarks();
    if (!records_path.empty()) write_records(records_path, records);
  } else {
    benchmark::RunSpecifiedBenchmarks(&silent, nullptr);
  }
  // What they hold goes while MPI and Kokkos still run.
  benchmark::ClearRegisteredBenchmarks();
  benchmark::Shutdown();
}

}  // namespace

int mpi_bench_main(int argc, char** argv,
                   const std::function<void(MPI_Comm, std::vector<Record>&)>& register_all) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    run(argc, argv, register_all);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("{}: error: {}\n", argv[0], error.what()).c_str(), stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace selvage::bench
