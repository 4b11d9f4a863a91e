#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace selvage::topo {

/// Where the buffers of messages lie.
enum class Memory { host, device };

/// What one rank sent to another from one kind of memory.
struct Amount {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;

  friend bool operator==(const Amount&, const Amount&) = default;
};

/// One cell of the traffic matrices.
struct TrafficEntry {
  int from = 0;
  int to = 0;
  Amount host;
  Amount device;

  friend bool operator==(const TrafficEntry&, const TrafficEntry&) = default;
};

/// What a profile says beside the matrices; anything may be unknown.
struct TrafficFacts {
  /// Number i of a histogram counts the messages with floor(log2(bytes)) = i.
  static constexpr std::size_t histogram_size = 64;

  std::optional<std::string> mpi_library;  ///< of the profiled run
  std::optional<double> seconds;           ///< its run time
  std::optional<double> communication_seconds;
  std::vector<std::uint64_t> host_histogram;    ///< empty or histogram_size numbers
  std::vector<std::uint64_t> device_histogram;  ///< the same
  bool is_incomplete =
      false;  ///< a rank of the run didn't reach MPI_Finalize, so that traffic may be missing

  friend bool operator==(const TrafficFacts&, const TrafficFacts&) = default;
};

/// Bytes that a rank sends each step to its neighbour `offset` ranks away in a process grid.
struct StencilDirection {
  std::vector<int> offset;  ///< one number per dimension
  std::uint64_t bytes = 0;
};

/// A halo exchange on a Cartesian grid of processes, numbered as by MPI_Cart_create: the last dimension is the fastest.
struct CartesianStencil {
  std::vector<int> dims;
  std::vector<bool> periodic;  ///< one per dimension; empty: none
  std::vector<StencilDirection> directions;
  Memory memory = Memory::device;
};

/// Both directions of each dimension, across the faces of a box.
/// \param face_bytes  per dimension, what one face sends
[[nodiscard]] std::vector<StencilDirection> face_directions(std::span<const std::uint64_t> face_bytes);

/// The directions of a box of cells with their exact bytes: faces, and with `corners` also edges and corners.
/// \param cells  per dimension, what one rank owns
/// \throws Error{input} when a number of bytes passes 64 bits
[[nodiscard]] std::vector<StencilDirection> box_directions(std::span<const std::uint64_t> cells,
                                                           std::uint64_t width_cells,
                                                           std::uint64_t bytes_per_cell, bool corners);

/// Who sends how much to whom: sparse matrices of bytes and messages, apart for host and device memory. A value.
class Traffic {
 public:
  /// More ranks than this are taken for a damaged file.
  static constexpr int max_ranks = 1 << 20;

  Traffic() = default;

  /// Entries come in any order; those of one pair are added up, those without bytes and messages dropped.
  /// \throws Error{input} when a rank is out of range, a sum passes 64 bits, or a histogram has the wrong size
  Traffic(int ranks, std::vector<TrafficEntry> entries, TrafficFacts facts = {});

  /// The traffic of one exchange, exactly: each rank sends one message per direction that has a neighbour. A rank that
  /// is its own neighbour sends to itself.
  /// \throws Error{input} when the description contradicts itself
  [[nodiscard]] static Traffic from_stencil(const CartesianStencil& stencil);

  [[nodiscard]] int rank_count() const { return ranks_; }
  /// All entries, ascending by sender, then receiver.
  [[nodiscard]] const std::vector<TrafficEntry>& entries() const { return entries_; }
  /// What a rank sends, ascending by receiver. \throws Error{usage} for a rank that there isn't
  [[nodiscard]] std::span<const TrafficEntry> sent_by(int rank) const;
  [[nodiscard]] const TrafficFacts& facts() const { return facts_; }
  /// Everything sent to other ranks. \throws Error{input} when it passes 64 bits
  [[nodiscard]] std::uint64_t total_bytes() const;

  friend bool operator==(const Traffic&, const Traffic&) = default;

 private:
  int ranks_ = 0;
  std::vector<TrafficEntry> entries_;
  std::vector<std::size_t> first_ = {0};  // of each sender's entries
  TrafficFacts facts_;
};

/// Both at once: the entries of the two added up, the facts of neither. \throws Error{input} unless of one size
[[nodiscard]] Traffic operator+(const Traffic& a, const Traffic& b);

}  // namespace selvage::topo
