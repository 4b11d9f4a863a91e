#pragma once

#include <selvage/topo/fabric.hpp>
#include <selvage/topo/traffic.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::topo {

/// Which slot each rank takes; no two ranks take the same one. A value.
class Placement {
 public:
  Placement() = default;
  /// \throws Error{input} when a slot is out of range or taken twice, or there are more ranks than slots
  Placement(std::vector<int> slot_of_rank, int slot_count);

  /// Rank i in slot i. \throws Error{input} when there are more ranks than slots
  [[nodiscard]] static Placement by_rank(int ranks, int slot_count);

  [[nodiscard]] int rank_count() const { return static_cast<int>(slots_.size()); }
  [[nodiscard]] int slot_count() const { return slot_count_; }
  [[nodiscard]] int slot_of(int rank) const { return slots_[rank]; }
  [[nodiscard]] const std::vector<int>& slots() const { return slots_; }

  friend bool operator==(const Placement&, const Placement&) = default;

 private:
  std::vector<int> slots_;
  int slot_count_ = 0;
};

/// Ranks to place. Refers to the traffic and the fabric, which have to outlive it.
struct MappingProblem {
  const Traffic& traffic;
  const Fabric& fabric;
  /// The process grid of the ranks, the last dimension the fastest; empty when there is none or it isn't known.
  std::vector<int> grid;
  std::uint64_t seed = 1;  ///< of whatever draws lots
  Routing routing = Routing::fixed;
};

/// What a placement costs. Host and device traffic count alike.
struct Metrics {
  double hop_bytes = 0;                ///< bytes times the cost between the slots, summed up over all pairs
  double average_dilation = 0;         ///< the same per byte
  std::uint32_t largest_dilation = 0;  ///< the largest cost that any byte pays
  std::uint64_t bytes_between_hosts = 0;  ///< bytes that leave their host
  /// Bytes over the link that carries most, per unit of its capacity; nothing where the links aren't known.
  std::optional<double> largest_link_load;
};

/// What one link carries.
struct LinkLoad {
  int link = 0;
  std::uint64_t bytes = 0;
  double load = 0;  ///< bytes per unit of capacity
};

/// \throws Error{input} when traffic, fabric and placement don't fit each other, or sums pass 64 bits
[[nodiscard]] Metrics measure(const MappingProblem& problem, const Placement& placement);

/// The load of every link of the fabric's network, by its number; empty where the links aren't known.
[[nodiscard]] std::vector<LinkLoad> link_loads(const MappingProblem& problem, const Placement& placement);

/// The time that a placement's traffic between hosts takes when all of it starts at once and flows share links max-min
/// fairly: no flow can be faster without making one slower that is no faster than it.
///
/// A fluid model: no latency, no packets; a flow is what one host sends another, in equal parts over all of its paths.
/// When flows end, the rest share anew; ends within 1 per cent of each other are taken for one.
/// \return in units of bytes per what a link of capacity 1 carries in a unit of time; nothing without a network,
/// or where there are too many flows to follow
[[nodiscard]] std::optional<double> transfer_time(const MappingProblem& problem, const Placement& placement);

/// The methods of place(), the default first.
[[nodiscard]] std::vector<std::string> mapper_names();

/// Places the ranks by one method; nothing when the method doesn't suit the problem, as `exhaustive` for many ranks.
///
/// A method followed by "+swap" is refined by swaps of two ranks, or of two hosts' ranks, as long as they pay.
/// \throws Error{input} for an unknown method or more ranks than slots
[[nodiscard]] std::optional<Placement> place(const MappingProblem& problem, std::string_view method);

/// What one method reached.
struct MethodResult {
  std::string method;
  Placement placement;
  Metrics metrics;
};

/// What the portfolio tried and chose.
struct PortfolioResult {
  /// The default first. `random` is a baseline: the first of four drawn placements, with the mean of their metrics.
  std::vector<MethodResult> methods;
  std::size_t best = 0;    ///< of `methods`, the one of least hop-bytes
  std::size_t chosen = 0;  ///< the one that the guard let pass, or the default
  std::string reason;      ///< why, as half a sentence

  [[nodiscard]] const MethodResult& result() const { return methods[chosen]; }
};

/// A placement has to gain at least this much of the default's hop-bytes to replace it.
inline constexpr int least_gain_percent = 3;
/// And its transfer_time() may be so many times the default's: the model knows it to 1 per cent, and leaves more out.
inline constexpr double longest_time_ratio = 1.02;

/// Tries every method and takes the cheapest whose largest link load is no larger than the default's and whose time is
/// at most `longest_time_ratio` of it: for up to 9 ranks the cheapest of all such placements. Keeps the default unless
/// hop-bytes fall by `least_gain_percent`. The same input gives the same answer everywhere. Not collective: one rank maps
/// and tells the others.
///
/// Source: Faraji, thesis 6.3.1, with the guard and the other methods beside SCOTCH this project's.
/// \throws Error{input} when there are more ranks than slots
[[nodiscard]] PortfolioResult place_by_portfolio(const MappingProblem& problem);

/// Whether SCOTCH is among the methods.
[[nodiscard]] bool has_scotch();

}  // namespace selvage::topo
