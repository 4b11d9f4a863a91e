#include "deferred_executor.hpp"

#include "halo/halo_plan.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/grid.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

class SumOfDoubles final : public Combiner {
 public:
  explicit SumOfDoubles(DeferredExecutor& executor) : executor_(executor) {}
  void combine(const CopyBox& box) override {
    executor_.enqueue([box] {
      for (std::int64_t i = 0; i < box.extents[3]; ++i) {
        double contribution = 0;
        std::memcpy(&contribution, box.source + i * box.source_strides[3], sizeof contribution);
        *reinterpret_cast<double*>(box.target + i * box.target_strides[3]) += contribution;
      }
    });
  }

 private:
  DeferredExecutor& executor_;
};

constexpr std::int64_t cells = 6;

/// One row of cells per rank in a ring, ghosts of width 1, said to lie on a device.
class DeferredRing : public testing::Test {
 protected:
  DeferredRing() {
    Field field;
    field.label = "u";
    field.data = reinterpret_cast<std::byte*>(row_.data());
    field.extents = {cells + 2, 1, 1, 1};
    field.strides = {sizeof(double), 0, 0, 0};
    field.rank = 1;
    field.element_bytes = sizeof(double);
    field.memory = MemoryKind::device;
    HaloChoices choices;
    choices.transport = Transport::mpi_staged;
    plan_ = std::make_unique<HaloPlan>(context_.state(), executor_, neighbourhood(), choices,
                                       std::vector<Field>{field});
  }

  [[nodiscard]] int left() const { return (context_.rank() + context_.size() - 1) % context_.size(); }
  [[nodiscard]] int right() const { return (context_.rank() + 1) % context_.size(); }
  static double value(int rank, std::int64_t cell, int round) {
    return round * 1000.0 + rank * 10.0 + static_cast<double>(cell);
  }

  /// A "kernel" that sets all cells, and one that looks at what has become of them.
  void enqueue_fill(int round) {
    executor_.enqueue([this, round] {
      row_.front() = row_.back() = -1.0;
      for (std::int64_t cell = 0; cell < cells; ++cell) row_[1 + cell] = value(context_.rank(), cell, round);
    });
  }
  void enqueue_snapshot() {
    executor_.enqueue([this] { snapshots_.push_back(row_); });
  }

  const Context context_{MPI_COMM_WORLD};
  DeferredExecutor executor_;
  std::vector<double> row_ = std::vector<double>(cells + 2);
  std::vector<std::vector<double>> snapshots_;
  std::unique_ptr<HaloPlan> plan_;

 private:
  [[nodiscard]] Neighbourhood neighbourhood() const {
    Neighbourhood result;
    result.shape = {.axes = 1, .extents = {cells, 1, 1}, .width = {{{1, 1}, {0, 0}, {0, 0}}}};
    for (int rank = 0; rank < context_.size(); ++rank) {
      Neighbour neighbour{rank, {}};
      if (rank == left()) neighbour.boundaries.push_back(boundary(result.shape, centre - 1));
      if (rank == right()) neighbour.boundaries.push_back(boundary(result.shape, centre + 1));
      if (!neighbour.boundaries.empty()) result.neighbours.push_back(std::move(neighbour));
    }
    return result;
  }
  static Boundary boundary(const Shape& shape, Direction direction) {
    return {direction, owned_region(shape, direction), ghost_region(shape, direction),
            ghost_region(shape, opposite(direction))};
  }
};

constexpr int rounds = 300;

TEST_F(DeferredRing, KeepsExchangesInTheOrderOfTheQueue) {
  for (int round = 0; round < rounds; ++round) {
    enqueue_fill(round);
    plan_->finish(executor_, plan_->start(executor_, 1));
    enqueue_snapshot();
    // Everybody's next message is on its way before anybody waits for the copies of this round.
    if (round % 3 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  executor_.fence();
  ASSERT_EQ(snapshots_.size(), static_cast<std::size_t>(rounds));
  for (int round = 0; round < rounds; ++round) {
    EXPECT_EQ(snapshots_[round].front(), value(left(), cells - 1, round)) << "round " << round;
    EXPECT_EQ(snapshots_[round].back(), value(right(), 0, round)) << "round " << round;
  }
}

TEST_F(DeferredRing, KeepsReductionsInTheOrderOfTheQueue) {
  SumOfDoubles sum(executor_);
  for (int round = 0; round < rounds; ++round) {
    executor_.enqueue([this, round] {
      for (std::int64_t cell = 0; cell < cells + 2; ++cell) row_[cell] = value(context_.rank(), cell, round);
    });
    plan_->reduce(executor_, sum, 1);
    enqueue_snapshot();
  }
  executor_.fence();
  for (int round = 0; round < rounds; ++round) {
    const auto& row = snapshots_[round];
    EXPECT_EQ(row[1], value(context_.rank(), 1, round) + value(left(), cells + 1, round))
        << "round " << round;
    EXPECT_EQ(row[cells], value(context_.rank(), cells, round) + value(right(), 0, round))
        << "round " << round;
  }
}

}  // namespace
}  // namespace selvage::detail
