// What Triggers and command queues refuse when they are made, and when a transfer is added.
#include "space.hpp"
#include "thrown.hpp"

#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>
#include <selvage/comm/trigger.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

namespace selvage::test {
namespace {

class TriggersErrors : public testing::Test {
 protected:
  [[nodiscard]] Triggers::Transfer transfer_of_a_word() const {
    return {.window = &window_, .local = window_.data(), .bytes = word, .unit_bytes = word, .arrival = word};
  }

  const Space space_;
  const Context context_{MPI_COMM_WORLD};
  Window window_{space_, context_, 4 * word};
};

TEST_F(TriggersErrors, RefuseCopyPathsThatAreNone) {
  const ScopedVariable paths("SELVAGE_COPY_PATHS", "both");
  EXPECT_EQ(message_on_all_ranks(ErrorKind::input, [&] { Triggers(space_, context_); }),
            "SELVAGE_COPY_PATHS=both: there are direct, static:SHARE (from 0 to 1), dynamic, auto");
}

TEST_F(TriggersErrors, RefuseSizesOfOneRankOnAll) {
  const bool is_last = context_.rank() == context_.size() - 1;
  const std::string on_last =
      context_.size() == 1 ? "" : " (on rank " + std::to_string(context_.size() - 1) + ")";
  EXPECT_EQ(message_on_all_ranks(ErrorKind::usage,
                                 [&] { Triggers(space_, context_, {.ring_entries = is_last ? 100U : 64U}); }),
            "a trigger ring of 100 entries: not a power of two" + on_last);
  EXPECT_EQ(
      message_on_all_ranks(ErrorKind::usage,
                           [&] { CommandQueue(space_, context_, window_, {.slots = is_last ? 63U : 64U}); }),
      "a CommandQueue of 1 rings of 63 slots and 1 service threads: at least 1, slots a power of two" +
          on_last);
  if (context_.size() > 1) {
    EXPECT_EQ(message_on_all_ranks(
                  ErrorKind::usage,
                  [&] { CommandQueue(space_, context_, window_, {.service_threads = is_last ? 2 : 1}); }),
              "ranks give one CommandQueue different service_threads: 1 on rank 0, 2 on rank " +
                  std::to_string(context_.size() - 1));
  }
  // No rank has taken tags that another has not: messages of what is made next meet.
  using HostSpace = Kokkos::DefaultHostExecutionSpace;
  const CommandQueue queue(space_, context_, window_, CommandQueue::Options{});
  const Grid<1> grid(context_, {.cells = {4 * context_.size()}, .periodic = {true}, .reorder = false});
  const auto u = grid.allocate<double, Kokkos::LayoutRight, Kokkos::HostSpace>("u", 1);
  Kokkos::deep_copy(u, context_.rank());
  HaloExchange halo(HostSpace(), grid, {.width = 1, .transport = Transport::mpi_staged}, u);
  halo.exchange(HostSpace(), u);
  EXPECT_EQ(u(0), (context_.rank() + context_.size() - 1) % context_.size());
}

TEST_F(TriggersErrors, RefuseTransfersThatCantBeMade) {
  Triggers triggers(space_, context_);
  const auto refusal = [&](const Triggers::Transfer& transfer) {
    const auto error = thrown_by([&] { triggers.add({0, 1}, transfer, 1); });
    return error ? error->message() : "nothing was thrown";
  };
  Triggers::Transfer transfer = transfer_of_a_word();
  transfer.arrival = 5;
  EXPECT_EQ(refusal(transfer), "an arrival counter at offset 5: not a multiple of 8");
  transfer = transfer_of_a_word();
  transfer.local = nullptr;
  EXPECT_EQ(refusal(transfer), "a Triggers::Transfer of 8 bytes without local memory");
  transfer.window = nullptr;
  EXPECT_EQ(refusal(transfer), "a Triggers::Transfer without a window");
}

}  // namespace
}  // namespace selvage::test
