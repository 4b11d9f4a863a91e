#pragma once

#include "part.hpp"
#include "ticks.hpp"

namespace selvage::profile {

/// Counts what this rank sends, from MPI_Init to MPI_Finalize. All calls are safe from any thread.
class Recorder {
 public:
  /// \param threads whether several threads may be in MPI at a time
  void start(Part part, bool threads);
  void stop();

  [[nodiscard]] bool active() const { return active_.load(std::memory_order_acquire); }
  [[nodiscard]] const Part& part() const { return part_; }

  /// \param peer its rank in MPI_COMM_WORLD; others, which MPI_Comm_spawn and its kind bring, are not counted
  void add(Direction direction, int peer, Memory memory, std::uint64_t bytes) const;
  /// \param calls  how many alike this one stands for
  void add_time(std::uint64_t start_ticks, std::uint64_t end_ticks, unsigned calls) const;

 private:
  void increase(Counter& counter, std::uint64_t value) const {
    if (threads_) {
      counter.fetch_add(value, std::memory_order_relaxed);
    } else {
      counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
    }
  }

  // Release in start() publishes the part to the threads whose calls see it as active.
  std::atomic<bool> active_{false};
  bool threads_ = false;
  Part part_;
};

extern Recorder recorder;

/// One call of MPI by the program. Calls that MPI makes of itself inside are not the program's: they pass uncounted.
class Call {
 public:
  /// \param is_immediate  whether it returns without waiting. Reading the clock twice is a good part of what such
  ///                      a call takes, so only some of them, drawn at random, are timed and stand for the others.
  explicit Call(bool is_immediate = false)
      : outermost_(depth_++ == 0 && recorder.active()),
        stands_for_(!outermost_     ? 0
                    : !is_immediate ? 1
                    : draw()        ? drawn_of_
                                    : 0),
        start_ticks_(stands_for_ > 0 ? ticks() : 0) {}
  ~Call() {
    --depth_;
    if (stands_for_ > 0) recorder.add_time(start_ticks_, ticks(), stands_for_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Only after the call has succeeded is it counted, so that no question of ours meets an argument that MPI refuses.
  [[nodiscard]] bool counts(int result) const { return outermost_ && result == 0; }

 private:
  static constexpr unsigned drawn_of_ = 16;

  /// At random, since loops make the same few calls again and again.
  static bool draw() {
    random_ = random_ * 1664525u + 1013904223u;
    return random_ < UINT32_MAX / drawn_of_;
  }

  // In the block that the loader reserves at the start: the recorder is always loaded with the program.
  static inline thread_local int depth_ __attribute__((tls_model("initial-exec"))) = 0;
  static inline thread_local std::uint32_t random_ __attribute__((tls_model("initial-exec"))) = 1;

  bool outermost_;
  unsigned stands_for_;
  std::uint64_t start_ticks_;
};

}  // namespace selvage::profile
