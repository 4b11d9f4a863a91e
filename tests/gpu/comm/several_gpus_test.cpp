#include "device_torus.hpp"
#include "process_gpus.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

struct Load {
  TorusCase torus;
  std::optional<Initiation> initiation;
  int rounds;

  [[nodiscard]] std::string name() const {
    return torus.name() + (initiation ? "_" + std::string(to_string(*initiation)) : "");
  }
};

/// One GPU's part of the process: a torus of its own over that GPU of every process.
struct Part {
  Part(const ProcessGpu& its_gpu, const Load& load)
      : gpu(its_gpu),
        torus(gpu.space(), gpu.context(), load.torus, 1e6 * (1 + gpu.index())),
        halo(torus.plan(gpu.space(), load.torus, load.initiation)),
        rounds(shares_a_gpu(gpu.context()) ? load.rounds / 50 : load.rounds) {}

  HaloExchange::Pending start(int round) {
    torus.enqueue_fill(gpu.space(), torus.view(round));
    return halo.start(gpu.space(), torus.view(round));
  }
  void finish(int round, HaloExchange::Pending&& pending) {
    halo.finish(gpu.space(), std::move(pending));
    torus.enqueue_check(gpu.space(), torus.view(round));
  }
  void expect_exact() {
    gpu.space().fence();
    EXPECT_NO_THROW(halo.check()) << gpu.text();
    EXPECT_EQ(torus.wrong(), 0) << gpu.text() << ": " << torus.one_mistake() << "\n" << halo.explain();
    EXPECT_EQ(torus.rounds(), rounds) << gpu.text();
  }

  const ProcessGpu& gpu;
  DeviceTorus torus;
  HaloExchange halo;
  int rounds;
};

class SeveralGpus : public testing::TestWithParam<Load> {
 protected:
  void SetUp() override {
    if (const std::string missing = ProcessGpus::missing(); !missing.empty()) GTEST_SKIP() << missing;
    gpus_.emplace();
    for (int i = 0; i < ProcessGpus::count; ++i) {
      try {
        parts_.push_back(std::make_unique<Part>(gpus_->at(i), GetParam()));
      } catch (const Error& error) {
        // Few MPIs take GPU memory; all else must run within a host.
        const bool depends_on_mpi = GetParam().torus.transport == Transport::mpi_direct;
        if (error.kind() != ErrorKind::unsupported || !depends_on_mpi) throw;
        GTEST_SKIP() << gpus_->at(i).text() << ": " << error.message();
      }
    }
  }

  /// One round on both GPUs, both underway before the first is waited for.
  void run_round(int round) {
    auto first = parts_[0]->start(round);
    auto second = parts_[1]->start(round);
    parts_[0]->finish(round, std::move(first));
    parts_[1]->finish(round, std::move(second));
  }

  std::optional<ProcessGpus> gpus_;
  std::vector<std::unique_ptr<Part>> parts_;
};

INSTANTIATE_TEST_SUITE_P(
    EveryTransport, SeveralGpus,
    testing::Values(Load{{Transport::peer, GhostReuse::credit, false}, Initiation::stream, 10'000},
                    Load{{Transport::peer, GhostReuse::alternating, true}, Initiation::stream, 10'000},
                    Load{{Transport::peer, GhostReuse::credit, true}, Initiation::host, 1000},
                    Load{{Transport::peer, GhostReuse::credit, false}, Initiation::queue, 1000},
                    Load{{Transport::copy_engine, GhostReuse::credit, false}, Initiation::stream, 10'000},
                    Load{{Transport::mpi_direct, GhostReuse::credit, false}, {}, 1000},
                    Load{{Transport::mpi_staged, GhostReuse::credit, true}, {}, 1000}),
    [](const testing::TestParamInfo<Load>& info) { return info.param.name(); });

TEST_P(SeveralGpus, ExchangeAtOnceFromOneThread) {
  for (int round = 0; round < parts_[0]->rounds; ++round) run_round(round);
  for (const auto& part : parts_) part->expect_exact();
}

TEST_P(SeveralGpus, ExchangeFromAThreadEach) {
  int provided = 0;
  MPI_Query_thread(&provided);
  ASSERT_EQ(provided, MPI_THREAD_MULTIPLE) << "which main() asks for";
  // Kokkos notes a kernel's attributes at its first launch on a GPU, in a table that isn't thread-safe.
  for (int round = 0; round < 2; ++round) run_round(round);
  std::vector<std::thread> threads;
  std::vector<std::string> errors(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    threads.emplace_back([&part = *parts_[i], &error = errors[i]] {
      try {
        for (int round = 2; round < part.rounds; ++round) part.finish(round, part.start(round));
        part.gpu.space().fence();
      } catch (const std::exception& failure) {
        error = failure.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    EXPECT_EQ(errors[i], "") << parts_[i]->gpu.text();
    parts_[i]->expect_exact();
  }
}

/// Sums of ghosts come back to the GPU they belong to.
TEST_P(SeveralGpus, ReduceOnTheirOwnGpu) {
  for (const auto& part : parts_) {
    const auto& field = part->torus.view(0);
    const double mark = 1 + part->gpu.index();
    Kokkos::deep_copy(part->gpu.space(), field, mark);
    part->halo.reduce(part->gpu.space(), ReduceOperation::sum, field);
  }
  for (const auto& part : parts_) {
    const auto& field = part->torus.view(0);
    const double mark = 1 + part->gpu.index();
    const auto corner = Kokkos::subview(field, 1, 1);
    double value = 0;
    Kokkos::deep_copy(part->gpu.space(), value, corner);
    part->gpu.space().fence();
    EXPECT_NO_THROW(part->halo.check()) << part->gpu.text();
    // A corner cell is a ghost three times over.
    EXPECT_EQ(value, 4 * mark) << part->gpu.text() << "\n" << part->halo.explain();
  }
}

}  // namespace
}  // namespace selvage::test
