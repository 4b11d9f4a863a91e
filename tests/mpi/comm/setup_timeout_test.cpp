// Limits of the waits in which ranks make something together, and of those that come after.
#include "runtime/cards.hpp"
#include "thrown.hpp"
#include "transferred_bytes.hpp"

#include <selvage/comm/halo_exchange.hpp>
#include <selvage/comm/migration.hpp>
#include <selvage/comm/typed_transfer.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

TEST(SetupTimeout, IsNeverShorterThanOtherLimitsUnlessThatIsSaid) {
  struct Case {
    const char* timeout;
    const char* setup;
    std::int64_t timeout_ms, setup_ms;
  };
  for (const Case& each : {Case{"", "", 30'000, 30'000}, Case{"9000", "", 9000, 30'000},
                           Case{"600000", "", 600'000, 600'000}, Case{"600000", "20000", 600'000, 20'000}}) {
    const ScopedVariable timeout("SELVAGE_TIMEOUT_MS", each.timeout);
    const ScopedVariable setup("SELVAGE_SETUP_TIMEOUT_MS", each.setup);
    const Context context(MPI_COMM_WORLD);
    EXPECT_EQ(context.timeout().count(), each.timeout_ms);
    EXPECT_EQ(context.setup_timeout().count(), each.setup_ms);
  }
}

/// The last rank is late. It waits in MPI_COMM_WORLD where the others join it once they have run out of time.
class LateToAConstructor : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    // What follows has a short limit.
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void TearDown() override { MPI_Barrier(MPI_COMM_WORLD); }

  [[nodiscard]] bool late() const { return rank_ == size_ - 1; }
  [[nodiscard]] std::string late_rank() const { return "rank " + std::to_string(size_ - 1); }
  /// The last rank comes when waits of steps would have ended.
  void come_late() const {
    if (late()) std::this_thread::sleep_for(std::chrono::milliseconds(2 * std::stoi(short_timeout_ms)));
  }
  [[nodiscard]] std::optional<Error> error_of_a_grid(const Context& context) const {
    return thrown_by([&] { const Grid<1> grid(context, {.cells = {100}}); });
  }
  void expect_late(const std::optional<Error>& error, const std::string& operation) const {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::timeout);
    const std::string& message = error->message();
    const std::string late = "waited " + short_setup_timeout_ms + " ms for " + late_rank();
    EXPECT_EQ(message.find(late + " (collective call "), 0U) << message;
    EXPECT_NE(message.find(" seen) to enter " + operation), std::string::npos) << message;
  }

  int rank_ = 0;
  int size_ = 1;
};

TEST_F(LateToAConstructor, IsWaitedForBeyondTheLimitOfSteps) {
  const ShortTimeout limit;
  come_late();
  const Context context(MPI_COMM_WORLD);
  EXPECT_EQ(context.timeout().count(), std::stoi(short_timeout_ms));
  come_late();
  const Grid<1> grid(context, {.cells = {100}, .periodic = {true}});
  const auto view = grid.allocate<double>("u", 1);
  HaloExchange halo(Space(), grid, {.width = 1}, view);
  halo.exchange(Space(), view);
  Space().fence();
  halo.check();
}

/// The first plan finds out who sends to whom; later ones are steps of the program.
TEST_F(LateToAConstructor, OfAMigrationMayBeLateToTheFirstPlanButToNoOther) {
  const ShortTimeout limit;
  const Context context(MPI_COMM_WORLD);
  Migration migration(Space(), context);
  const Kokkos::View<int*, Space> owners("owners", 5);
  Kokkos::deep_copy(owners, (rank_ + 1) % size_);
  come_late();
  EXPECT_EQ(migration.plan(Space(), owners), 5);
  if (late()) return;
  const auto error = thrown_by([&] { static_cast<void>(migration.plan(Space(), owners)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::timeout);
  EXPECT_EQ(error->message().find("waited " + short_timeout_ms + " ms for " + late_rank()), 0U)
      << error->message();
}

/// Nobody sends to the late rank, so that no message shows who is missing.
TEST_F(LateToAConstructor, OfAMigrationIsNamedWithoutAnythingToSend) {
  const ShortTimeout limit;
  const Context context(MPI_COMM_WORLD);
  Migration migration(Space(), context);
  const Kokkos::View<int*, Space> owners("owners", 5);
  Kokkos::deep_copy(owners, rank_);
  EXPECT_EQ(migration.plan(Space(), owners), 5);
  if (late()) return;
  const auto error = thrown_by([&] { static_cast<void>(migration.plan(Space(), owners)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message().find("waited " + short_timeout_ms + " ms for " + late_rank() + " "), 0U)
      << error->message();
}

/// The collective call that the others gave up completes when the late rank comes: what it writes must still be there.
TEST_F(LateToAConstructor, OfAGridIsNamedAndLeftBehindSafely) {
  const ShortSetupTimeout limit;
  const Context context(MPI_COMM_WORLD);
  EXPECT_GT(context.timeout(), context.setup_timeout());
  if (!late()) expect_late(error_of_a_grid(context), "the construction of a Grid");
  MPI_Barrier(MPI_COMM_WORLD);
  if (late()) static_cast<void>(error_of_a_grid(context));
  for (int i = 0; i < 20; ++i) MPI_Barrier(MPI_COMM_WORLD);
}

/// The others have given up on a message of the late rank, which is sent all the same.
TEST_F(LateToAConstructor, SendsIntoMemoryThatNobodyUsesAgain) {
  const ShortSetupTimeout limit;
  const Context context(MPI_COMM_WORLD);
  const int tag = context.state()->take_tags(1);
  constexpr std::size_t bytes = 1000;
  const auto meet = [&](int partner) {
    std::vector<detail::CardsFor<std::byte>> cards;
    cards.push_back({partner, std::vector<std::byte>(bytes, std::byte{7})});
    static_cast<void>(detail::swap_bytes(*context.state(), tag, std::move(cards), "to meet"));
  };
  std::vector<std::vector<std::byte>> taken;
  if (rank_ == 0) {
    EXPECT_TRUE(thrown_by([&] { meet(size_ - 1); }));
    // The allocator gives what was freed last.
    for (int i = 0; i < 100; ++i) taken.emplace_back(bytes, std::byte{1});
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (late()) meet(0);
  for (int i = 0; i < 20; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (const std::vector<std::byte>& each : taken)
    EXPECT_EQ(std::ranges::count(each, std::byte{1}), static_cast<std::ptrdiff_t>(bytes));
}

/// The late rank then waits for the others in vain, and names them.
TEST_F(LateToAConstructor, OfAContextIsNamed) {
  const ShortSetupTimeout limit;
  const auto expect_named = [&](const std::string& ranks) {
    const auto error = thrown_by([] { const Context context(MPI_COMM_WORLD); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::timeout);
    EXPECT_EQ(error->message(),
              "waited " + short_setup_timeout_ms + " ms for " + ranks + " to make a selvage::Context");
  };
  if (!late()) expect_named(late_rank());
  MPI_Barrier(MPI_COMM_WORLD);
  if (!late()) return;
  std::string others = "rank 0";
  for (int other = 1; other < rank_; ++other) others += ", rank " + std::to_string(other);
  expect_named(others);
}

TEST_F(LateToAConstructor, OfAHaloExchangeIsNamed) {
  const ShortSetupTimeout limit;
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {100}});
  const auto view = grid.allocate<double>("u", 1);
  if (late()) return;
  expect_late(thrown_by([&] { const HaloExchange halo(Space(), grid, {.width = 1}, view); }),
              "the construction of a HaloExchange");
}

/// All come, but rank 1 greets nobody; rank 0 waits for it, and the others for rank 0.
TEST_F(LateToAConstructor, OfATypedTransferIsNamed) {
  const ShortSetupTimeout limit;
  const Context context(MPI_COMM_WORLD);
  const Bytes bytes(context, 8);
  std::vector<TypedTransfer::End> sends;
  if (rank_ == 0) sends.push_back(transfer_end(1, bytes.view(), Datatype::of<double>()));
  const auto error = thrown_by([&] { const TypedTransfer transfer(Space(), context, sends, {}); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), ErrorKind::timeout) << error->what();
  const std::string wanted = "waited " + short_setup_timeout_ms + " ms for rank 1 to name this rank";
  const bool names_it = error->message().find(wanted) == 0;
  EXPECT_EQ(names_it, rank_ == 0) << error->what();
}

}  // namespace
}  // namespace selvage::test
