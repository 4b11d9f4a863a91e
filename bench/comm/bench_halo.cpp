// Halo exchange: ours as it is chosen by default, each of its forms by name, and what others write, in turns. <r> counts ranks
// or GPUs.
//
// halo/face/fp64/<bytes>/<r>rank: ranks in a row along axis 0, one face of that many bytes to each neighbour
//
// halo/column/fp64/<bytes>/<r>rank: the same along axis 2, where a face is a column of single cells
//
// halo/box/fp64/<n>/<r>rank: an n^3 box per rank, all faces

#include "../support/figure.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "halo_trial.hpp"
#include "nccl_version.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

namespace selvage::bench {
namespace {

constexpr int rounds = 31;

std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes;
  for (const std::int64_t bytes : {64, 1024, 8192, 65536, 1 << 20}) {
    const auto cells = static_cast<std::int64_t>(bytes / sizeof(double));
    shapes.push_back({fmt::format("halo/face/fp64/{}", bytes), {4, 1, cells}, {0, 1, 1}});
  }
  for (const std::int64_t bytes : {1024, 8192, 65536}) {
    const auto cells = static_cast<std::int64_t>(bytes / sizeof(double));
    shapes.push_back({fmt::format("halo/column/fp64/{}", bytes), {1, cells, 8}, {1, 1, 0}});
  }
  for (const std::int64_t n : {32, 64, 128})
    shapes.push_back({fmt::format("halo/box/fp64/{}", n), {n, n, n}, {0, 0, 0}});
  return shapes;
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    record_nccl_version();
    const selvage::Context context(comm);
    // Kept to the end: MPI through UCX holds on to mappings of the memory it was given, so that nothing else may take its place.
    const auto trials = std::make_shared<std::vector<std::unique_ptr<HaloTrial>>>();
    for (const Shape& shape : all_shapes()) {
      const std::string name = fmt::format("{}/{}", shape.name, ranks_text(context.machine()));
      register_figure(name, comm, rounds, [=] {
        return trials->emplace_back(std::make_unique<HaloTrial>(context, shape))->figure();
      });
    }
  });
}
