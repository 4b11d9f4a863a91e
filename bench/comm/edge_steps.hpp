#pragma once

#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace selvage::bench {

/// Ranks in a row along axis 0, each with rows of `bytes` bytes in two alternating Views: the least that sends
/// a face to each side.
class EdgeRows {
 public:
  using Space = Kokkos::DefaultExecutionSpace;
  using View = Kokkos::View<double**, Kokkos::LayoutRight, Space::memory_space>;
  /// When a step passed its stages, by the clock of its kernel: begun, written, put, arrived.
  using Stamps = Kokkos::View<std::uint64_t[4], Space::memory_space>;

  EdgeRows(const Context& context, std::int64_t bytes);

  [[nodiscard]] HaloExchange alternating() const;
  [[nodiscard]] std::shared_ptr<HaloExchange> exchange_by_default() const;
  /// Null where this build can't.
  [[nodiscard]] std::shared_ptr<HaloExchange> exchange_over(Transport transport, Initiation initiation) const;

  /// u, then v, then u...
  [[nodiscard]] const View& next_row() { return ++turns_ % 2 != 0 ? u : v; }
  /// Enqueues a kernel that writes a new value to the edge rows.
  /// \param stamps  if given, when it began and ended
  void write_edges(const View& row, const Stamps& stamps = {});
  /// How a kernel sends: put what it has written, or store it on both sides as it writes.
  enum class Send { put, store };
  /// Enqueues one launch that writes the edges, sends and waits, `steps` times.
  /// \param stamps  if given, of the last step
  void launch_steps(const HaloPort& port, Send send, int steps, const Stamps& stamps = {});
  /// Enqueues one launch that makes `steps` steps of two messages one after the other: ranks of even number put
  /// and wait, those of odd number wait and put. Rows are written while messages are under way.
  void launch_round_trips(const HaloPort& port, Send send, int steps);
  /// Enqueues a kernel that stamps when it began, as arrival.
  void stamp_arrival(const Stamps& stamps);

  /// Poisons the ghosts, runs, and compares them with what the neighbours last wrote.
  /// \throws Error{verification} that names `name`
  void verify(const std::string& name, const std::function<void()>& run);

  Grid<2> grid;
  Space space;
  View u, v;

 private:
  [[nodiscard]] int count_wrong(const View& row, double value) const;

  std::uint64_t turns_ = 0;
  std::uint64_t value_ = 0;  ///< last written; the same on all ranks
};

}  // namespace selvage::bench
