#include "message_tags.hpp"

#include "runtime/context_state.hpp"
#include "thrown.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>
#include <string>

namespace selvage::test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

TEST(MessageTags, AreGivenToOneObjectAtATime) {
  const Context context(MPI_COMM_WORLD);
  const int first = context.state()->take_tags(3);
  EXPECT_EQ(context.state()->take_tags(1), first + 3);
  EXPECT_EQ(context.state()->take_tags(1), first + 4);
}

class Ring {
 public:
  explicit Ring(const Context& context)
      : grid_(context, {.cells = {64}, .periodic = {true}, .reorder = false}) {
    MPI_Comm_rank(context.comm(), &rank_);
    MPI_Comm_size(context.comm(), &size_);
  }
  [[nodiscard]] HaloExchange make() const {
    return {Space(), grid_, {.width = 1, .transport = Transport::mpi_staged}, view_};
  }
  /// Whether the neighbours' values arrive.
  [[nodiscard]] bool exchanges(HaloExchange& halo, double value) const {
    Kokkos::deep_copy(view_, value + rank_);
    halo.exchange(Space(), view_);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view_);
    const auto last = host.extent(0) - 1;
    return host(0) == value + (rank_ + size_ - 1) % size_ && host(last) == value + (rank_ + 1) % size_;
  }

 private:
  Grid<1> grid_;
  Kokkos::View<double*> view_ = grid_.allocate<double>("u", 1);
  int rank_ = 0;
  int size_ = 1;
};

TEST(MessageTags, OfObjectsThatHaveEndedAreGivenAgain) {
  const Context context(MPI_COMM_WORLD);
  const Ring ring(context);
  HaloExchange lasting = ring.make();
  take_all_tags_but(context, 500);
  for (int i = 0; i < 40; ++i) {
    HaloExchange halo = ring.make();
    EXPECT_TRUE(ring.exchanges(halo, 100. * i)) << i;
    EXPECT_TRUE(ring.exchanges(lasting, 100. * i + 50)) << i;
  }
}

TEST(MessageTags, OfWhatOneRankKeepsAreGivenToNobody) {
  const Context context(MPI_COMM_WORLD);
  detail::ContextState& state = *context.state();
  take_all_tags_but(context, 10);
  std::optional<detail::Tags> kept = state.lease_tags(6);
  const int first = kept->first();
  if (context.rank() != context.size() - 1) kept.reset();
  EXPECT_TRUE(thrown_by([&] { static_cast<void>(state.lease_tags(6)); }));
  kept.reset();
  EXPECT_EQ(state.lease_tags(6).first(), first);
}

TEST(MessageTags, OfAMessageThatNobodyReceivedAreGivenToNobody) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Context context(MPI_COMM_WORLD);
  detail::ContextState& state = *context.state();
  take_all_tags_but(context, 10);
  const int first = state.lease_tags(6).first();
  const int next = (rank + 1) % size;
  MPI_Request sent = MPI_REQUEST_NULL;
  MPI_Isend(nullptr, 0, MPI_BYTE, next, first + 5, state.comm(), &sent);
  // Behind it, so that it has come.
  MPI_Sendrecv(nullptr, 0, MPI_BYTE, next, first + 7, nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, first + 7,
               state.comm(), MPI_STATUS_IGNORE);
  EXPECT_TRUE(thrown_by([&] { static_cast<void>(state.lease_tags(6)); }));
  MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, first + 5, state.comm(), MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  EXPECT_EQ(state.lease_tags(6).first(), first);
}

TEST(MessageTags, RunOutWithAnErrorOnAllRanks) {
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {64}, .periodic = {true}});
  const auto u = grid.allocate<double>("u", 1);
  HaloExchange halo(Kokkos::DefaultExecutionSpace(), grid, {.width = 1}, u);
  take_all_tags_but(context, 2);
  const std::string message = message_on_all_ranks(ErrorKind::unsupported, [&] {
    const HaloExchange another(Kokkos::DefaultExecutionSpace(), grid, {.width = 1}, u);
  });
  EXPECT_NE(message.find("message tags left of MPI's " + std::to_string(largest_tag()) + ", which "),
            std::string::npos)
      << message;
  EXPECT_NO_THROW(static_cast<void>(context.state()->take_tags(2)));
  EXPECT_TRUE(thrown_by([&] { static_cast<void>(context.state()->take_tags(1)); }));
  EXPECT_NO_THROW(halo.exchange(Kokkos::DefaultExecutionSpace(), u)) << "what was planned before goes on";
}

}  // namespace
}  // namespace selvage::test
