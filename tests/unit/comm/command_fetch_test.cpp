#include "proxy/command_fetch.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

using detail::Command;
using detail::CommandFetch;
using detail::CommandProducer;
using detail::Copier;

/// Copies nothing before it is told to, like a stream.
class SlowCopier final : public Copier {
 public:
  void copy(std::byte* target, const std::byte* source, std::size_t bytes) override {
    waiting_.emplace_back([=] { std::memcpy(target, source, bytes); });
    copied_bytes += bytes;
  }
  void copy(const selvage::detail::CopyBox&) override { FAIL() << "fetching copies ranges"; }
  void release(std::uint64_t&, std::uint64_t) override { FAIL() << "fetching releases nothing"; }
  [[nodiscard]] std::uint64_t mark() override { return ++marked_; }
  [[nodiscard]] bool has_done(std::uint64_t ticket) override { return ticket <= done_; }

  void run() {
    for (const auto& copy : waiting_) copy();
    waiting_.clear();
    done_ = marked_;
  }
  std::size_t copied_bytes = 0;

 private:
  std::vector<std::function<void()>> waiting_;
  std::uint64_t marked_ = 0;
  std::uint64_t done_ = 0;
};

/// Two rings of four slots in memory that the host can't poll.
class Fetching : public testing::Test {
 protected:
  static constexpr int rings = 2;
  static constexpr std::uint64_t capacity = 4;

  Fetching() : kept_(CommandFetch::kept_bytes(rings, capacity)) {
    auto copier = std::make_unique<SlowCopier>();
    copier_ = copier.get();
    fetch_ = std::make_unique<CommandFetch>(producers_.data(), slots_.data(), rings, capacity, kept_.data(),
                                            std::move(copier));
    fetch_->add(0);
    fetch_->add(1);
  }
  void write(int ring, std::uint64_t number) {
    slots_[ring * capacity + (number - 1) % capacity].payload = 100 * ring + number;
    producers_[ring].written = number;
  }
  [[nodiscard]] std::uint64_t payload(int ring, std::uint64_t number) const {
    return fetch_->slots(ring)[(number - 1) % capacity].payload;
  }
  /// Two copies: of the counts, and of the slots.
  void fetch() {
    for (int step = 0; step < 3; ++step) {
      fetch_->progress();
      copier_->run();
    }
  }

  std::vector<CommandProducer> producers_{rings};
  std::vector<Command> slots_{rings * capacity};
  std::vector<std::byte> kept_;
  SlowCopier* copier_ = nullptr;
  std::unique_ptr<CommandFetch> fetch_;
};

TEST_F(Fetching, BringsNewSlotsAfterTheirCount) {
  write(0, 1);
  write(0, 2);
  EXPECT_FALSE(fetch_->progress()) << "the count is on its way";
  EXPECT_FALSE(fetch_->progress());
  copier_->run();
  EXPECT_TRUE(fetch_->progress()) << "the slots are on their way";
  EXPECT_EQ(fetch_->fetched(0), 0U) << "not here yet";
  copier_->run();
  EXPECT_TRUE(fetch_->progress());
  EXPECT_EQ(fetch_->fetched(0), 2U);
  EXPECT_EQ(fetch_->fetched(1), 0U);
  EXPECT_EQ(payload(0, 1), 1U);
  EXPECT_EQ(payload(0, 2), 2U);
}

TEST_F(Fetching, LeavesWhatIsWrittenMeanwhileToTheNextTime) {
  write(1, 1);
  fetch_->progress();
  copier_->run();
  fetch_->progress();
  write(1, 2);
  copier_->run();
  fetch_->progress();
  EXPECT_EQ(fetch_->fetched(1), 1U);
  fetch();
  EXPECT_EQ(fetch_->fetched(1), 2U);
  EXPECT_EQ(payload(1, 2), 102U);
}

TEST(FetchingAtLast, BringsAllThatWasWritten) {
  std::vector<CommandProducer> producers(1);
  std::vector<Command> slots(4);
  std::vector<std::byte> kept(CommandFetch::kept_bytes(1, slots.size()));
  CommandFetch fetch(producers.data(), slots.data(), 1, slots.size(), kept.data(),
                     detail::make_host_copier());
  fetch.add(0);
  producers[0].written = 1;
  EXPECT_TRUE(fetch.progress()) << "has counted, and brings the slot";
  slots[1].payload = 7;
  producers[0].written = 2;
  fetch.catch_up(std::chrono::seconds(20));
  EXPECT_EQ(fetch.fetched(0), 2U);
  EXPECT_EQ(fetch.slots(0)[1].payload, 7U);
}

/// Of a GPU that has stopped.
class StuckCopier final : public Copier {
 public:
  explicit StuckCopier(bool& is_gone) : is_gone_(is_gone) {}
  ~StuckCopier() override { is_gone_ = true; }
  void copy(std::byte*, const std::byte*, std::size_t) override {}
  void copy(const selvage::detail::CopyBox&) override {}
  void release(std::uint64_t&, std::uint64_t) override {}
  [[nodiscard]] std::uint64_t mark() override { return 1; }
  [[nodiscard]] bool has_done(std::uint64_t) override { return false; }

 private:
  bool& is_gone_;
};

TEST(FetchingAtLast, LeavesBehindWhatIsNotHereInTime) {
  using namespace std::chrono_literals;
  std::vector<CommandProducer> producers(1);
  std::vector<Command> slots(4);
  std::vector<std::byte> kept(CommandFetch::kept_bytes(1, slots.size()));
  bool is_gone = false;
  {
    CommandFetch fetch(producers.data(), slots.data(), 1, slots.size(), kept.data(),
                       std::make_unique<StuckCopier>(is_gone));
    fetch.add(0);
    EXPECT_THROW(fetch.catch_up(20ms), Error);
    EXPECT_FALSE(fetch.end(1h)) << "has waited before";
  }
  EXPECT_FALSE(is_gone) << "its copies may still run";
  EXPECT_FALSE(detail::retire(std::make_unique<StuckCopier>(is_gone), 20ms));
  EXPECT_FALSE(is_gone);
  EXPECT_TRUE(detail::retire(detail::make_host_copier(), 0ms));
  EXPECT_TRUE(detail::retire(nullptr, 0ms));
}

TEST_F(Fetching, GoesRoundTheEndOfARing) {
  for (std::uint64_t number = 1; number <= 3; ++number) write(0, number);
  fetch();
  for (std::uint64_t number = 4; number <= 7; ++number) write(0, number);
  fetch();
  EXPECT_EQ(fetch_->fetched(0), 7U);
  for (std::uint64_t number = 4; number <= 7; ++number) EXPECT_EQ(payload(0, number), number);
}

TEST_F(Fetching, CopiesNoSlotsWhileNothingIsNew) {
  write(0, 1);
  fetch();
  copier_->copied_bytes = 0;
  fetch();
  EXPECT_EQ(copier_->copied_bytes % sizeof(CommandProducer), 0U);
  EXPECT_LE(copier_->copied_bytes, 3 * rings * sizeof(CommandProducer)) << "counts alone";
}

}  // namespace
}  // namespace selvage::test
