// What a rank has put without quiet, when its CommandQueue or Triggers go, and then its Window.
#include "job.hpp"
#include "space.hpp"
#include "thrown.hpp"

#include <selvage/comm/detail/signal.hpp>
#include <selvage/comm/trigger.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace selvage::test {
namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Team = Kokkos::TeamPolicy<Space>::member_type;

constexpr std::uint64_t messages = 8;
constexpr std::uint64_t words = 50'000;  // of a message: more than what MPI keeps a copy of
/// A counter per message, where messages land, where they come from.
constexpr std::uint64_t window_words = messages + 2 * messages * words;

KOKKOS_FUNCTION std::uint64_t landed_at(std::uint64_t message) {
  return messages + message * words;
}
KOKKOS_FUNCTION std::uint64_t source_at(std::uint64_t message) {
  return messages + (messages + message) * words;
}
KOKKOS_FUNCTION std::uint64_t value(std::uint64_t message, std::uint64_t i) {
  return 1 + message * words + i;
}

struct PutAll {
  CommandPort port;
  std::uint64_t* window;
  int target;

  KOKKOS_FUNCTION void operator()(const Team& team, int& failed) const {
    const CommandPort::Ring context = port.ring(0);
    for (std::uint64_t i = 0; i < messages; ++i) {
      const bool done = context.put_signal(team, window + landed_at(i), window + source_at(i), words * word,
                                           window + i, 1, target);
      Kokkos::single(Kokkos::PerTeam(team), [&] { failed += done ? 0 : 1; });
    }
  }
};

struct FireAll {
  TriggerPort port;
  KOKKOS_FUNCTION void operator()(int i) const {
    static_cast<void>(port.fire({static_cast<std::uint32_t>(i), 1}));
  }
};

/// Who moves the bytes, and where to: memory that is mapped, or another host by messages.
struct Way {
  const char* proxy;
  bool is_mapped;
};

/// Rank 0 puts to rank 1, and there are no others.
class WindowEnd : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (!GetParam().is_mapped) hosts_.emplace("SELVAGE_LOGICAL_HOSTS", "2x1");
    context_.emplace(MPI_COMM_WORLD, ContextOptions{.log = [this](std::string_view line) { said_ += line; }});
    window_.emplace(space_, *context_, window_words * word);
    ASSERT_EQ(window_->maps(1 - context_->rank()), GetParam().is_mapped);
    for (std::uint64_t message = 0; message < messages; ++message) {
      for (std::uint64_t i = 0; i < words; ++i) data()[source_at(message) + i] = value(message, i);
    }
  }
  void TearDown() override { MPI_Barrier(MPI_COMM_WORLD); }

  [[nodiscard]] bool puts() const { return context_->rank() == 0; }
  [[nodiscard]] std::uint64_t* data() const { return reinterpret_cast<std::uint64_t*>(window_->data()); }

  void put_and_drop_the_queue() {
    const CommandQueue queue(space_, *context_, *window_, {.rings = 1, .slots = 16});
    if (!puts()) return;
    int failed = 0;
    Kokkos::parallel_reduce("put", Kokkos::TeamPolicy<Space>(space_, 1, 1), PutAll{queue.device(), data(), 1},
                            failed);
    EXPECT_EQ(failed, 0);
  }
  void fire_and_drop_the_triggers() {
    Triggers triggers(space_, *context_);
    if (!puts()) return;
    for (std::uint32_t i = 0; i < messages; ++i) {
      triggers.add({i, 1},
                   {.window = &*window_,
                    .target = 1,
                    .local = data() + source_at(i),
                    .bytes = words * word,
                    .offset = landed_at(i) * word,
                    .arrival = i * word},
                   1);
    }
    Kokkos::parallel_for("fire", Kokkos::RangePolicy<Space>(space_, 0, static_cast<int>(messages)),
                         FireAll{triggers.device()});
    space_.fence();
  }
  /// On rank 1, whose own progress it needs where there is no thread.
  void expect_arrival_by(CommandQueue& queue) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const auto has_arrived = [this](std::uint64_t i) {
      // Acquires from the proxy: what has landed before.
      return detail::acquire_word(data()[i]) == 1;
    };
    for (std::uint64_t message = 0; message < messages; ++message) {
      while (!has_arrived(message) && std::chrono::steady_clock::now() < end) queue.progress();
      ASSERT_TRUE(has_arrived(message)) << message;
    }
    int wrong = 0;
    for (std::uint64_t message = 0; message < messages; ++message) {
      for (std::uint64_t i = 0; i < words; ++i)
        wrong += data()[landed_at(message) + i] == value(message, i) ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0);
  }

  const Space space_;
  std::string said_;  ///< what the library has logged
  const ScopedVariable proxy_{"SELVAGE_PROXY", GetParam().proxy};
  std::optional<ScopedVariable> hosts_;
  std::optional<Context> context_;
  std::optional<Window> window_;
};

/// Where bytes come by messages, longer than destructors wait for ranks that have nothing to do with them. Where memory is
/// mapped the target has no part in it.
void come_late(bool is_mapped) {
  std::this_thread::sleep_for(std::chrono::milliseconds(is_mapped ? 50 : 1300));
}

TEST_P(WindowEnd, CompletesWhatAQueueLeftUnderway) {
  CommandQueue other(space_, *context_, *window_, {.rings = 1});
  put_and_drop_the_queue();
  if (!puts()) {
    come_late(GetParam().is_mapped);
    expect_arrival_by(other);
  }
  window_.reset();
}

TEST_P(WindowEnd, CompletesWhatTriggersLeftUnderway) {
  CommandQueue other(space_, *context_, *window_, {.rings = 1});
  fire_and_drop_the_triggers();
  if (!puts()) {
    come_late(GetParam().is_mapped);
    expect_arrival_by(other);
  }
  window_.reset();
}

/// Nothing looks at the window any more, so there is nothing to see but that all of it ends, and that what comes after it is
/// an error of the rank that sends it, and of no other.
TEST_P(WindowEnd, MayComeBeforeTheQueueEnds) {
  CommandQueue queue(space_, *context_, *window_, {.rings = 1, .slots = 16});
  std::uint64_t* const window = data();
  const auto put_all = [&] {
    int failed = 0;
    if (puts()) {
      Kokkos::parallel_reduce("put", Kokkos::TeamPolicy<Space>(space_, 1, 1),
                              PutAll{queue.device(), window, 1}, failed);
    }
    EXPECT_EQ(failed, 0);
  };
  put_all();
  queue.progress();
  window_.reset();
  put_all();
  const auto has_failed = [&] {
    queue.progress();
    return thrown_by([&] { queue.check(); });
  };
  std::optional<Error> met;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (puts() && !met && std::chrono::steady_clock::now() < end) met = has_failed();
  MPI_Barrier(MPI_COMM_WORLD);
  if (!puts()) met = has_failed();
  EXPECT_EQ(met ? met->message() : "nothing was thrown",
            puts() ? "a transfer to window 0, which is not here" : "nothing was thrown");
}

std::vector<Way> ways_of_two(const std::vector<Way>& all) {
  return this_job().ranks() == 2 ? all : std::vector<Way>();
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WindowEnd);
INSTANTIATE_TEST_SUITE_P(Ways, WindowEnd,
                         testing::ValuesIn(ways_of_two(
                             {{"thread", true}, {"thread", false}, {"caller", true}, {"caller", false}})),
                         [](const auto& tested) {
                           return std::string(tested.param.proxy) +
                                  (tested.param.is_mapped ? "_mapped" : "_messages");
                         });

/// A target that never answers in time: the memory that messages are sent from stays.
class WindowGivesUp : public WindowEnd {
 protected:
  const ShortTimeout timeout_;
};

TEST_P(WindowGivesUp, AndKeepsWhatMessagesStillRead) {
  CommandQueue queue(space_, *context_, *window_, {.rings = 1});
  put_and_drop_the_queue();
  if (puts()) {
    window_.reset();
    EXPECT_EQ(
        said_.find("waited " + short_timeout_ms + " ms for puts and gets to end before their Window does"),
        0U)
        << said_;
  } else {
    // Until the other rank has waited for its transfers, then for this one, then as destructors do.
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * std::stoi(short_timeout_ms) + 1300));
    expect_arrival_by(queue);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WindowGivesUp);
INSTANTIATE_TEST_SUITE_P(Messages, WindowGivesUp, testing::ValuesIn(ways_of_two({{"caller", false}})),
                         [](const auto&) { return "caller"; });

}  // namespace
}  // namespace selvage::test
