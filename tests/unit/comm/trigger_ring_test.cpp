#include "proxy/trigger_ring.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

namespace selvage::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t ring_ids = 64;

Buffer zeroed(std::size_t bytes) {
  auto memory = std::make_shared<std::vector<std::uint64_t>>(bytes / sizeof(std::uint64_t));
  auto* data = reinterpret_cast<std::byte*>(memory->data());
  return {data, std::move(memory)};
}

TriggerRing make_ring(std::uint64_t capacity, std::chrono::milliseconds timeout = 20s) {
  return {{zeroed(TriggerRing::kernel_bytes()), zeroed(TriggerRing::host_bytes(capacity, ring_ids))},
          capacity,
          ring_ids,
          timeout};
}

TEST(TriggerRing, GivesTriggersInOrderOverManyLaps) {
  TriggerRing ring = make_ring(8);
  EXPECT_FALSE(ring.pop());
  std::uint64_t fired = 0;
  std::uint64_t popped = 0;
  for (int round = 0; round < 100; ++round) {
    const int burst = 1 + round % 8;
    for (int i = 0; i < burst; ++i) ASSERT_TRUE(ring.port().fire({1, 1 + fired++}));
    for (int i = 0; i < burst; ++i) {
      const auto word = ring.pop();
      ASSERT_TRUE(word);
      ASSERT_EQ(word->epoch, 1 + popped++);
    }
    ASSERT_FALSE(ring.pop());
    ring.release_slots();
  }
}

TEST(TriggerRing, WhenFullMakesKernelsWaitAndOverwritesNothing) {
  TriggerRing ring = make_ring(4, 20ms);
  for (std::uint64_t epoch = 1; epoch <= 4; ++epoch) ASSERT_TRUE(ring.port().fire({2, epoch}));
  EXPECT_EQ(ring.take_losses().count, 0U);
  EXPECT_FALSE(ring.port().fire({2, 99}));
  const TriggerRing::Losses losses = ring.take_losses();
  EXPECT_EQ(losses.count, 1U);
  EXPECT_EQ(losses.first_slot, 4U);
  EXPECT_FALSE(losses.is_closed);
  EXPECT_EQ(ring.take_losses().count, 0U) << "told before";
  for (std::uint64_t epoch = 1; epoch <= 4; ++epoch) {
    const auto word = ring.pop();
    ASSERT_TRUE(word);
    EXPECT_EQ(word->epoch, epoch);
  }
  EXPECT_FALSE(ring.pop());
}

TEST(TriggerRing, KeepsSlotsUntilTheyAreReleased) {
  TriggerRing ring = make_ring(4, 20ms);
  for (std::uint64_t epoch = 1; epoch <= 4; ++epoch) ASSERT_TRUE(ring.port().fire({2, epoch}));
  while (ring.pop()) continue;
  EXPECT_FALSE(ring.port().fire({2, 5}));
}

/// Pops `all` triggers, with pauses now and then. \return how often each id came, in the order of its epochs
std::vector<std::uint64_t> drain_slowly(TriggerRing& ring, std::uint64_t all) {
  std::vector<std::uint64_t> seen(ring_ids);
  std::minstd_rand random(7);
  const auto end = std::chrono::steady_clock::now() + 60s;
  for (std::uint64_t popped = 0; popped < all && std::chrono::steady_clock::now() < end;) {
    while (const auto word = ring.pop()) {
      ++popped;
      ++seen[word->id];
      EXPECT_EQ(word->epoch, seen[word->id] % 0x10000) << word->id;
    }
    ring.release_slots();
    if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
  }
  return seen;
}

TEST(TriggerRing, LosesNothingOfManyProducersToASlowConsumer) {
  constexpr std::uint64_t each = 20'000;
  constexpr int producers = 4;
  TriggerRing ring = make_ring(64);
  std::vector<std::thread> threads;
  for (std::uint32_t id = 0; id < producers; ++id) {
    threads.emplace_back([port = ring.port(), id] {
      for (std::uint64_t epoch = 1; epoch <= each; ++epoch) ASSERT_TRUE(port.fire({id, epoch}));
    });
  }
  const std::vector<std::uint64_t> seen = drain_slowly(ring, each * producers);
  for (std::thread& thread : threads) thread.join();
  for (int id = 0; id < producers; ++id) EXPECT_EQ(seen[id], each);
  EXPECT_EQ(ring.take_losses().count, 0U);
  EXPECT_FALSE(ring.pop());
}

TEST(TriggerRing, DeliversWhatComesBehindSlotsThatWereLost) {
  constexpr std::uint64_t capacity = 4;
  TriggerRing ring = make_ring(capacity, 1ms);
  std::uint64_t next = 1;
  for (int lap = 0; lap < 20; ++lap) {
    std::vector<std::uint64_t> fired;
    while (ring.port().fire({2, next})) fired.push_back(next++);
    // More than a ring full, so that a slot is lost in two laps in a row.
    const int more = static_cast<int>(lap % (capacity + 2));
    for (int i = 0; i < more; ++i) EXPECT_FALSE(ring.port().fire({2, 9999}));
    std::vector<std::uint64_t> popped;
    while (const auto word = ring.pop()) popped.push_back(word->epoch);
    EXPECT_EQ(popped, fired) << "lap " << lap;
    ring.release_slots();
    EXPECT_EQ(ring.take_losses().count, 1U + more);
  }
}

TEST(TriggerRing, LosesOnlyWhatItSaysItHasLost) {
  constexpr std::uint64_t each = 250;
  constexpr int producers = 4;
  static_assert(producers * each <= TriggerPort::most_losses,
                "however slow the machine, the ring isn't closed");
  TriggerRing ring = make_ring(8, 5ms);
  std::vector<std::vector<std::uint64_t>> fired(producers);
  std::atomic<int> running = producers;
  std::vector<std::thread> threads;
  for (std::uint32_t id = 0; id < producers; ++id) {
    threads.emplace_back([&, port = ring.port(), id] {
      for (std::uint64_t epoch = 1; epoch <= each; ++epoch) {
        if (port.fire({id, epoch})) fired[id].push_back(epoch);
      }
      --running;
    });
  }
  std::vector<std::vector<std::uint64_t>> popped(producers);
  std::uint64_t count = 0;
  for (bool is_last = false; !is_last;) {
    is_last = running == 0;
    while (const auto word = ring.pop()) {
      popped[word->id].push_back(word->epoch);
      if (++count % 100 == 0) std::this_thread::sleep_for(12ms);
    }
    ring.release_slots();
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t lost = producers * each;
  for (int id = 0; id < producers; ++id) {
    EXPECT_EQ(popped[id], fired[id]);
    lost -= fired[id].size();
  }
  EXPECT_GT(lost, 0U) << "nothing was tested";
  EXPECT_EQ(ring.take_losses().count, lost);
}

TEST(TriggerRing, RefusesWithoutAWaitOnceTooManyWereLost) {
  TriggerRing ring = make_ring(1, 0ms);
  ASSERT_TRUE(ring.port().fire({2, 1}));
  for (std::uint64_t i = 0; i < TriggerPort::most_losses; ++i) EXPECT_FALSE(ring.port().fire({2, 9}));
  TriggerPort patient = ring.port();
  patient.timeout_ns = 1'000'000'000'000'000;
  EXPECT_FALSE(patient.fire({2, 9}));
  const TriggerRing::Losses losses = ring.take_losses();
  EXPECT_EQ(losses.count, TriggerPort::most_losses);
  EXPECT_TRUE(losses.is_closed);
  EXPECT_TRUE(ring.take_losses().is_closed) << "for good";
}

TEST(TriggerRing, PublishesWhatWasStoredBeforeATrigger) {
  TriggerRing ring = make_ring(16);
  std::vector<int> message(1000);
  std::thread kernel([&, port = ring.port()] {
    for (std::uint64_t epoch = 1; epoch <= 200; ++epoch) {
      for (int& cell : message) cell = static_cast<int>(epoch);
      ASSERT_TRUE(port.fire({3, epoch}));
      ASSERT_TRUE(port.wait_complete({3, epoch}));
    }
  });
  for (std::uint64_t epoch = 1; epoch <= 200; ++epoch) {
    ASSERT_TRUE(poll_until([&] { return ring.pop().has_value(); }, 10'000'000'000));
    for (const int cell : message) ASSERT_EQ(cell, static_cast<int>(epoch));
    ring.release_slots();
    ring.complete({3, epoch});
  }
  kernel.join();
}

TEST(TriggerRing, TellsCompletionsOfEpochsInFlightApart) {
  TriggerRing ring = make_ring(16, 20ms);
  EXPECT_FALSE(ring.port().is_complete({3, 1}));
  ring.complete({3, 2});
  EXPECT_TRUE(ring.port().is_complete({3, 2}));
  EXPECT_FALSE(ring.port().is_complete({3, 1}));
  EXPECT_FALSE(ring.port().wait_complete({4, 2}));
  ring.complete({3, 1});
  EXPECT_TRUE(ring.port().is_complete({3, 1}));
}

TEST(TriggerRing, RefusesSizesThatDoNotFit) {
  EXPECT_THROW(make_ring(12), Error);
}

}  // namespace
}  // namespace selvage::detail
