// Halo exchange: every transport and initiation against what others write, interleaved in one run. <r> counts
// ranks or GPUs.
//
// halo/face/fp64/<bytes>/<r>rank: ranks in a row along axis 0, one face of that many bytes to each neighbour
//
// halo/column/fp64/<bytes>/<r>rank: the same along axis 2, where a face is a column of single cells
//
// halo/box/fp64/<n>/<r>rank: an n^3 box per rank, all faces
//
// halo/box/fp64/128/<transport>/<initiation>/<r>rank: each of our forms by itself

#include "../support/figure.hpp"
#include "../support/mpi_main.hpp"
#include "halo_trial.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

namespace selvage::bench {
namespace {

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
    shapes.push_back({fmt::format("halo/box/fp64/{}", n), {n, n, n}, {0, 0, 0}, n == 128});
  return shapes;
}

/// One Google Benchmark per shape: its time is our fastest form's, the counters are everyone else's.
///
/// \param trials  keeps them all: MPI through UCX holds on to mappings of the memory it was given, so that
///                nothing else may take its place
Figure figure_of(const Context& context, const Shape& shape,
                 std::vector<std::unique_ptr<HaloTrial>>& trials) {
  const HaloTrial& halo_trial = *trials.emplace_back(std::make_unique<HaloTrial>(context, shape));
  const Trial& trial = halo_trial.trial();
  const std::string& fastest = halo_trial.fastest_of_ours();
  Figure figure{.seconds = trial.median(fastest),
                .counters = {{"speedup_over_plain", trial.speedup(fastest, "plain")}},
                .records = halo_trial.records()};
  for (const Contender& contender : halo_trial.contenders())
    figure.counters[contender.name + "_us"] = trial.median(contender.name) * 1e6;
  return figure;
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm, std::vector<Record>& records) {
    const selvage::Context shared(comm);
    const auto trials = std::make_shared<std::vector<std::unique_ptr<HaloTrial>>>();
    for (const Shape& shape : all_shapes()) {
      register_figure(figure_name(shape, "", shared.size()), records,
                      [=] { return figure_of(shared, shape, *trials); });
    }
  });
}
