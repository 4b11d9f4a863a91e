// The kernel that packs, signals, waits and unpacks, with a rank that is its own peer: what no plan comes to in a test's time.
#include <selvage/comm/detail/kokkos_list_mover.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace selvage::detail {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Bytes = Kokkos::View<std::byte*, Space::memory_space>;
using Numbers = Kokkos::View<double*, Space::memory_space>;
using Indices = Kokkos::View<int*, Space::memory_space>;

constexpr std::byte poison{0xa5};

/// One object in memory of kernels, with an image.
template <class T>
class Shared {
 public:
  Shared() : bytes_("shared", sizeof(T) + alignof(T)), image_(Kokkos::create_mirror_view(bytes_)) {}
  [[nodiscard]] T* get() const { return aligned(bytes_.data()); }
  void write(const T& value) {
    Kokkos::deep_copy(image_, bytes_);
    *host() = value;
    Kokkos::deep_copy(bytes_, image_);
  }
  [[nodiscard]] T read() const {
    Kokkos::deep_copy(image_, bytes_);
    return *host();
  }

 private:
  /// As far into the image as in the kernels' memory.
  [[nodiscard]] T* host() const {
    const auto offset = reinterpret_cast<std::byte*>(get()) - bytes_.data();
    return reinterpret_cast<T*>(image_.data() + offset);
  }
  static T* aligned(std::byte* data) {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    return reinterpret_cast<T*>(data + (alignof(T) - address % alignof(T)) % alignof(T));
  }
  Bytes bytes_;
  Bytes::HostMirror image_;
};

class ListExchangeTest : public testing::Test {
 protected:
  static constexpr int owned = 700;
  static constexpr int ghosts = 1500;
  static constexpr std::int64_t block_bytes = 16384;

  /// The list names particle (7 * i) % owned in entry i.
  void begin_at(std::uint64_t epoch) {
    Kokkos::parallel_for("test::lists", Kokkos::RangePolicy<Space>(0, ghosts),
                         FillLists{ids_.data(), order_.data()});
    state_.write({.epoch = epoch, .teams_done = 0, .failed = 0});
    KernelListFlags flags{};
    flags.arrived.epoch = epoch;
    flags_.write(flags);
    peer_ = {.remote = flags_.get(),
             .own = flags_.get(),
             .remote_blocks = blocks_.data(),
             .own_blocks = blocks_.data(),
             .remote_headers = headers_.data(),
             .own_headers = headers_.data(),
             .remote_block_bytes = block_bytes,
             .own_block_bytes = block_bytes,
             .to_odd_remote_header = sizeof(ListHeader),
             .to_odd_own_header = sizeof(ListHeader),
             .out = {0, ghosts},
             .in = {0, ghosts},
             .rank = 3,
             .ring = 0};
    row_.write(peer_);
    Kokkos::deep_copy(blocks_, poison);
    executor_.fence();
  }
  [[nodiscard]] ListProgram program(std::uint64_t timeout_ms = 10'000) const {
    return {.peers = row_.get(),
            .peer_count = 1,
            .reverse = false,
            .state = state_.get(),
            .fault = fault(),
            .header = {.operation = ListOperation::gather, .entries = 0, .particle_bytes = 8, .signature = 5},
            .timeout_ns = timeout_ms * 1'000'000};
  }
  [[nodiscard]] ListFault* fault() const { return reinterpret_cast<ListFault*>(fault_memory_.data); }
  void run(const ListProgram& program, ListLaunch launch) {
    index_.ids = ids_.data();
    index_.order = order_.data();
    index_.ghost_begin = owned;
    ListKernels<Space>(Space(), index_).gather(program, std::span(&peer_, 1), launch, make_fields(0, x_));
  }
  void fill(double round) {
    const auto image = Kokkos::create_mirror_view(x_);
    for (int i = 0; i < owned + ghosts; ++i) image(i) = i < owned ? round * 10'000 + i : -1;
    Kokkos::deep_copy(x_, image);
  }
  [[nodiscard]] int wrong_ghosts(double round) const {
    const auto image = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x_);
    int wrong = 0;
    for (int i = 0; i < ghosts; ++i) wrong += image(owned + i) == round * 10'000 + 7 * i % owned ? 0 : 1;
    return wrong;
  }

 public:
  struct FillLists {
    int* ids;
    int* order;
    KOKKOS_FUNCTION void operator()(int i) const {
      ids[i] = 7 * i % owned;
      order[i] = i;
    }
  };

 protected:
  KokkosExecutor<Space> executor_{Space()};
  Buffer fault_memory_ = executor_.allocate_staging(sizeof(ListFault));
  ListFault* made_fault_ = new (fault_memory_.data) ListFault();
  ListIndex index_;
  Indices ids_{"ids", ghosts};
  Indices order_{"order", ghosts};
  Numbers x_{"x", owned + ghosts};
  Bytes blocks_{"blocks", 2 * block_bytes};
  Bytes headers_{"headers", 2 * sizeof(ListHeader)};
  Shared<ListState> state_;
  Shared<KernelListFlags> flags_;
  Shared<ListPeer> row_;
  ListPeer peer_{};
};

/// Teams of one kernel run in any order: the one that tells may come after one that has failed.
TEST_F(ListExchangeTest, TellsWhatWasPutBeforeAFailure) {
  begin_at(4);
  run(program(), ListLaunch::put);
  executor_.fence();
  KernelListFlags untold = flags_.read();
  untold.arrived.epoch = 4;
  flags_.write(untold);
  ListState state = state_.read();
  state.failed = 1;
  state_.write(state);
  ListTeams<Space>(Space()).launch("test::tell", 1, TellPeers{program()});
  executor_.fence();
  EXPECT_EQ(flags_.read().arrived.epoch, 5U);
  state.epoch = 5;
  state_.write(state);
  run(program(), ListLaunch::put);
  executor_.fence();
  EXPECT_EQ(flags_.read().arrived.epoch, 5U);
}

TEST_F(ListExchangeTest, GoesOnWhereEpochsWrap) {
  begin_at(std::numeric_limits<std::uint64_t>::max() - 3);
  for (int round = 0; round < 9; ++round) {
    fill(round);
    if (round % 2 == 0) {
      run(program(), ListLaunch::exchange);
    } else {
      run(program(), ListLaunch::put);
      run(program(), ListLaunch::take);
    }
    executor_.fence();
    ASSERT_EQ(wrong_ghosts(round), 0) << "round " << round;
  }
  EXPECT_EQ(state_.read().epoch, 5U);
  EXPECT_EQ(flags_.read().arrived.epoch, 5U);
  EXPECT_EQ(fault()->kind, ListFault::none);
}

TEST_F(ListExchangeTest, TakesTheBlockOfItsParity) {
  begin_at(6);
  fill(1);
  run(program(), ListLaunch::exchange);
  executor_.fence();
  const auto image = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), blocks_);
  int poisoned = 0;
  for (std::int64_t i = 0; i < 2 * block_bytes; ++i) poisoned += image(i) == poison ? 1 : 0;
  EXPECT_GE(poisoned, block_bytes);
  for (std::int64_t i = 0; i < block_bytes; ++i)
    ASSERT_EQ(image(i), poison) << "epoch 7 wrote block 0 at " << i;
}

TEST_F(ListExchangeTest, ReportsWhoIsLateAndThenDoesNothing) {
  begin_at(40);
  fill(2);
  run(program(50), ListLaunch::take);
  executor_.fence();
  EXPECT_EQ(fault()->kind, ListFault::late);
  EXPECT_EQ(fault()->peer_rank, 3);
  EXPECT_EQ(fault()->wanted, 41U);
  EXPECT_EQ(fault()->seen, 40U);
  run(program(), ListLaunch::exchange);
  executor_.fence();
  EXPECT_EQ(flags_.read().arrived.epoch, 40U) << "a rank that has failed must not pass for one that has come";
  EXPECT_EQ(wrong_ghosts(2), ghosts);
}

TEST_F(ListExchangeTest, ReportsAnotherOperation) {
  begin_at(8);
  fill(3);
  run(program(), ListLaunch::put);
  ListProgram other = program();
  other.header.signature = 6;
  run(other, ListLaunch::take);
  executor_.fence();
  EXPECT_EQ(fault()->kind, ListFault::mismatch);
  EXPECT_EQ(fault()->theirs.signature, 5U);
  EXPECT_EQ(fault()->announced, ghosts);
  EXPECT_EQ(wrong_ghosts(3), ghosts);
}

}  // namespace
}  // namespace selvage::detail
