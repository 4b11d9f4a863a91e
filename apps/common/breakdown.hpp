#pragma once

#include "common/device_spans.hpp"

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace selvage::app {

/// Where the time goes: named phases of an execution space instance, each a Kokkos Tools region. On a GPU they are timed by
/// events in the instance's stream, so nothing waits; on hosts between two fences.
///
///     Breakdown breakdown("jacobi", measure);
///     const auto halo = breakdown.phase("halo");
///     { auto timer = breakdown.time(space, halo);  exchange.exchange(space, u); }
///
/// Without `measure` nothing is fenced or timed, and only the regions remain.
class Breakdown {
 public:
  enum class Phase : std::size_t {};

  Breakdown(std::string app, bool measure) : app_(std::move(app)), measure_(measure) {}

  /// Defines a phase, or finds the one of that name. Not for inner loops.
  [[nodiscard]] Phase phase(const std::string& name);

  [[nodiscard]] bool measures() const { return measure_; }

  /// Runs from its making to its end.
  template <class Space>
  class [[nodiscard]] Timer {
   public:
    Timer(Breakdown& breakdown, const Space& space, Phase phase)
        : breakdown_(breakdown), space_(space), phase_(phase) {
      Kokkos::Tools::pushRegion(breakdown_.label(phase));
      if (breakdown_.measures()) begin();
    }
    ~Timer() {
      if (breakdown_.measures()) end();
      Kokkos::Tools::popRegion();
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    void begin() {
      if constexpr (has_stream<Space>) {
        span_ = breakdown_.spans().begin(static_cast<std::size_t>(phase_), space_.cuda_stream());
      } else {
        space_.fence("selvage: before a timed phase");
        begin_ = std::chrono::steady_clock::now();
      }
    }
    void end() {
      if constexpr (has_stream<Space>) {
        breakdown_.spans().end(span_, space_.cuda_stream());
        breakdown_.add(phase_, 0);
      } else {
        space_.fence("selvage: after a timed phase");
        breakdown_.add(phase_,
                       std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
      }
    }

    Breakdown& breakdown_;
    Space space_;
    Phase phase_;
    std::chrono::steady_clock::time_point begin_;
    std::uint64_t span_ = 0;
  };

  template <class Space>
  [[nodiscard]] Timer<Space> time(const Space& space, Phase phase) {
    return Timer<Space>(*this, space, phase);
  }

  /// Adds seconds measured elsewhere, e.g. the hidden share of an exchange.
  void add(Phase phase, double seconds, std::int64_t calls = 1);

  /// Of this rank so far; 0 where nothing is measured. Waits for phases of a GPU to end.
  [[nodiscard]] double seconds(Phase phase) const;

  /// One phase over all ranks; seconds are sums over the calls.
  struct Row {
    std::string name;
    std::int64_t calls;
    double min_s;
    double avg_s;
    double max_s;
  };
  /// In the order of definition. Collective; all ranks have defined the same phases in the same order.
  [[nodiscard]] std::vector<Row> gather(MPI_Comm comm) const;

 private:
  template <class Space>
  static constexpr bool has_stream = requires(const Space& space) {
    space.cuda_stream();
  };

  struct Record {
    std::string name;
    std::string label;  ///< "jacobi::halo"
    double seconds = 0;
    std::int64_t calls = 0;
  };

  [[nodiscard]] DeviceSpans& spans();
  [[nodiscard]] const std::string& label(Phase phase) const {
    return records_[static_cast<std::size_t>(phase)].label;
  }

  std::string app_;
  bool measure_;
  std::vector<Record> records_;
  std::unique_ptr<DeviceSpans> spans_;  ///< made with the first phase of a GPU
};

}  // namespace selvage::app
