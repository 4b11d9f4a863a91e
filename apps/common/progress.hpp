#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace selvage::app {

/// Whether a person watches standard output. Open MPI gives every rank a pseudo terminal, so under a launcher
/// its own standard output is asked as well.
[[nodiscard]] bool standard_output_is_terminal();

/// "  1200/5000 steps  24 %  1.3e+04 steps/s  ETA 0:12": one line that rewrites itself, at most five times a
/// second.
class Progress {
 public:
  /// \param shown  e.g. session.talks() && standard_output_is_terminal(); otherwise every call does nothing
  /// \param first  the step that the run starts from
  Progress(bool shown, std::int64_t first, std::int64_t last);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap enough for every step.
  void update(std::int64_t step);
  /// What the line ends with from now on, e.g. "imbalance 1.04".
  void note(std::string text) { note_ = std::move(text); }
  /// Clears the line, so that other text can follow; the next update draws it again.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool shown_;
  std::int64_t first_;
  std::int64_t last_;
  Clock::time_point begin_;
  Clock::time_point next_;
  bool drawn_ = false;
  std::string note_;
};

/// The line itself, without control characters.
[[nodiscard]] std::string progress_line(std::int64_t first, std::int64_t step, std::int64_t last,
                                        double elapsed_s);

}  // namespace selvage::app
