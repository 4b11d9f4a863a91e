#include "mpi_main.hpp"

#include "machine_facts.hpp"

#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

namespace selvage::bench {
namespace {

class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

void run(int argc, char** argv, const std::function<void(MPI_Comm)>& register_all) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<char*> arguments(argv, argv + argc);
  // One rank writes the file.
  if (rank != 0) {
    std::erase_if(arguments, [](const char* argument) {
      return std::string_view(argument).starts_with("--benchmark_out");
    });
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) {
    throw Error(ErrorKind::usage, "unknown flag");
  }
  for (const auto& [name, value] : machine_facts(MPI_COMM_WORLD)) benchmark::AddCustomContext(name, value);
  register_all(MPI_COMM_WORLD);
  Silent silent;
  if (rank == 0) {
    benchmark::RunSpecifiedBenchmarks();
  } else {
    benchmark::RunSpecifiedBenchmarks(&silent, nullptr);
  }
  // What they hold goes while MPI and Kokkos still run.
  benchmark::ClearRegisteredBenchmarks();
  benchmark::Shutdown();
}

}  // namespace

int mpi_bench_main(int argc, char** argv, const std::function<void(MPI_Comm)>& register_all) {
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
