#include "proxy/copies/multipath_copier.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

/// A stream: does what it was asked when its turn comes, one thing per poll of its mark, or never while it is `stuck`.
class SlowCopier final : public Copier {
 public:
  SlowCopier(int polls, const bool* stuck) : polls_(polls), stuck_(stuck) {}
  void copy(std::byte* target, const std::byte* source, std::size_t bytes) override {
    work_.push_back([=] {
      if (bytes > 0) std::memcpy(target, source, bytes);
    });
  }
  void copy(const CopyBox& box) override { copy(box.target, box.source, box.bytes()); }
  void release(std::uint64_t& word, std::uint64_t value) override {
    work_.push_back([&word, value] { word = value; });
  }
  std::uint64_t mark() override {
    const std::uint64_t ticket = ++last_;
    work_.push_back([this, ticket] { done_ = ticket; });
    return ticket;
  }
  bool has_done(std::uint64_t ticket) override {
    if (!*stuck_ && ++asked_ % polls_ == 0) {
      for (int i = 0; i < 2 && !work_.empty(); ++i) {
        work_.front()();
        work_.pop_front();
      }
    }
    return done_ >= ticket;
  }

 private:
  int polls_;
  const bool* stuck_;
  int asked_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t done_ = 0;
  std::deque<std::function<void()>> work_;
};

constexpr std::size_t lane_bytes = 10'000;
constexpr std::size_t guard = 64;

/// Two ways of given speeds, and a copy from one vector to another.
struct Ways {
  bool direct_stuck = false;
  bool staged_stuck = false;
  std::unique_ptr<MultipathCopier> copier;
  std::vector<std::byte> source;
  std::vector<std::byte> target;

  Ways(const CopySplit& split, int direct_polls, int staged_polls) {
    std::vector<StagedLane> lanes;
    for (int i = 0; i < 3; ++i) {
      const auto data = std::make_shared<std::byte[]>(lane_bytes);
      lanes.push_back(
          {{data.get(), data}, lane_bytes, std::make_unique<SlowCopier>(staged_polls, &staged_stuck)});
    }
    copier = std::make_unique<MultipathCopier>(std::make_unique<SlowCopier>(direct_polls, &direct_stuck),
                                               std::move(lanes), split);
  }
  /// \return a ticket
  std::uint64_t copy(std::size_t bytes) {
    source.resize(bytes);
    for (std::size_t i = 0; i < bytes; ++i) source[i] = static_cast<std::byte>(i * 31 + i / 251 + bytes);
    target.assign(bytes + 2 * guard, std::byte{0xee});
    copier->copy(target.data() + guard, source.data(), bytes);
    return copier->mark();
  }
  bool finish(std::uint64_t ticket) {
    for (int i = 0; i < 100'000; ++i) {
      if (copier->has_done(ticket)) return true;
    }
    return false;
  }
  void expect_copied() const {
    ASSERT_TRUE(std::equal(source.begin(), source.end(), target.data() + guard)) << source.size();
    for (std::size_t i = 0; i < guard; ++i) {
      ASSERT_EQ(target[i], std::byte{0xee});
      ASSERT_EQ(target[target.size() - 1 - i], std::byte{0xee});
    }
  }
};

constexpr CopySplit dynamic{.mode = CopySplit::Mode::dynamic, .least_bytes = 1000};
constexpr CopySplit half{.mode = CopySplit::Mode::fixed, .staged_share = 0.5, .least_bytes = 1000};

TEST(MultipathCopier, IsExactForOddSizes) {
  for (const CopySplit& split :
       {dynamic, half, CopySplit{.mode = CopySplit::Mode::automatic, .least_bytes = 1}}) {
    for (const std::size_t bytes : {0, 1, 999, 1000, 4095, 4097, 10'001, 65'537, 300'001}) {
      for (const int staged_polls : {1, 3, 20}) {
        Ways ways(split, 2, staged_polls);
        ASSERT_TRUE(ways.finish(ways.copy(bytes))) << bytes;
        ways.expect_copied();
      }
    }
  }
}

TEST(MultipathCopier, StagesTheShareThatIsAskedFor) {
  for (const double share : {0.0, 0.1, 0.5, 1.0}) {
    Ways ways({.mode = CopySplit::Mode::fixed, .staged_share = share, .least_bytes = 1000}, 1, 1);
    ASSERT_TRUE(ways.finish(ways.copy(100'001)));
    EXPECT_EQ(ways.copier->staged_bytes(), static_cast<std::size_t>(share * 100'001));
    ways.expect_copied();
  }
}

TEST(MultipathCopier, LeavesShortCopiesWhole) {
  Ways ways(half, 1, 1);
  ASSERT_TRUE(ways.finish(ways.copy(999)));
  EXPECT_EQ(ways.copier->staged_bytes(), 0U);
}

TEST(MultipathCopier, GivesTheFasterWayMore) {
  Ways fast_host(dynamic, 40, 1);
  ASSERT_TRUE(fast_host.finish(fast_host.copy(300'000)));
  EXPECT_GT(fast_host.copier->staged_bytes(), 200'000U);
  fast_host.expect_copied();
  Ways slow_host(dynamic, 1, 40);
  ASSERT_TRUE(slow_host.finish(slow_host.copy(300'000)));
  EXPECT_LT(slow_host.copier->staged_bytes(), 100'000U);
  slow_host.expect_copied();
}

/// The one piece of the way that never answers is taken over; what it had left to do is left out.
TEST(MultipathCopier, GoesOnWithoutAWayThatNeverAnswers) {
  Ways ways(dynamic, 1, 1);
  ways.staged_stuck = true;
  const std::uint64_t ticket = ways.copy(300'000);
  EXPECT_FALSE(ways.finish(ticket));
  ways.expect_copied();  // all has come, and yet the lane's read of the source is awaited
  ways.staged_stuck = false;
  EXPECT_TRUE(ways.finish(ticket));
  EXPECT_EQ(ways.copier->staged_bytes(), 0U);
  ways.expect_copied();
}

TEST(MultipathCopier, ReleasesAWordAfterAllWays) {
  for (const CopySplit& split : {dynamic, half}) {
    Ways ways(split, 1, 7);
    std::uint64_t word = 0;
    ways.copy(100'000);
    ways.copier->release(word, 5);
    const std::uint64_t ticket = ways.copier->mark();
    while (word == 0) static_cast<void>(ways.copier->has_done(ticket));
    ways.expect_copied();
    EXPECT_TRUE(ways.finish(ticket));
    EXPECT_EQ(word, 5U);
  }
}

TEST(MultipathCopier, KeepsTheOrderOfCopies) {
  Ways ways(half, 1, 5);
  std::vector<std::byte> a(50'000, std::byte{1});
  std::vector<std::byte> b(50'000, std::byte{2});
  std::vector<std::byte> c(50'000);
  std::vector<std::byte> small(10, std::byte{9});
  ways.copier->copy(b.data(), small.data(), small.size());
  ways.copier->copy(a.data(), b.data(), b.size());
  ways.copier->copy(c.data(), a.data(), a.size());
  ways.copier->copy(a.data(), c.data() + 20, 10);
  ASSERT_TRUE(ways.finish(ways.copier->mark()));
  EXPECT_EQ(c[9], std::byte{9});
  EXPECT_EQ(c[10], std::byte{2});
  EXPECT_EQ(c.back(), std::byte{2});
  EXPECT_EQ(a[0], std::byte{2});
}

TEST(SplitTrials, ChooseTheFasterWayAndAskAgain) {
  SplitTrials trials;
  const auto run = [&](double direct, double split) {
    int splits = 0;
    for (int i = 0; i < SplitTrials::period; ++i) {
      const bool is_split = trials.choose_split(1 << 20);
      splits += is_split ? 1 : 0;
      trials.record(1 << 20, is_split, is_split ? split : direct);
    }
    return splits;
  };
  EXPECT_EQ(run(2, 1), SplitTrials::period - 2);
  EXPECT_EQ(run(1, 2), 2) << "other traffic shares the path by now";
  EXPECT_EQ(run(1, 1), 2);
  EXPECT_FALSE(trials.choose_split(100)) << "another size";
}

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(CopySplit::parse(text));
  } catch (const Error& error) {
    return error.kind() == ErrorKind::input ? error.message() : "of another kind";
  }
  return {};
}

TEST(CopySplit, IsReadFromText) {
  EXPECT_EQ(CopySplit::parse("direct").mode, CopySplit::Mode::direct);
  EXPECT_EQ(CopySplit::parse("dynamic").mode, CopySplit::Mode::dynamic);
  EXPECT_EQ(CopySplit::parse("auto").mode, CopySplit::Mode::automatic);
  EXPECT_EQ(CopySplit::parse("static:0.25").staged_share, 0.25);
  for (const char* text :
       {"static", "static:", "static:2", "static:-1", "static:0.5x", "static:nan", "both"}) {
    EXPECT_NE(refusal_of(text).find("there are direct, static:SHARE"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace selvage::detail
