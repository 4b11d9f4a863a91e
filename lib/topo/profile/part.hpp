#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

// What one rank has counted, laid out so that it can lie in a file which the rank maps: the kernel keeps the file's
// pages when the process dies, however it dies.

namespace selvage::profile {

enum class Memory { host, device };
enum class Direction { sent, fetched };  // fetched: one-sided gets, which the other side can't see
enum class Quantity { bytes, messages };

inline constexpr int memories = 2;
inline constexpr int quantities = 2;
inline constexpr int histogram_bins = 64;

using Counter = std::atomic<std::uint64_t>;
using Histogram = std::array<Counter, histogram_bins>;

/// A length counts in the bin floor(log2(bytes)); bin 0 also holds empty messages.
constexpr int histogram_bin(std::uint64_t bytes) {
  return bytes == 0 ? 0 : 63 - __builtin_clzll(bytes);
}

struct PartHeader {
  static constexpr std::uint64_t expected_magic = 0x3174726150766c53;  // "SlvPart1"

  std::uint64_t magic = 0;
  std::int32_t ranks = 0;
  std::int32_t rank = 0;
  std::array<char, 64> mpi_library{};
  double seconds_per_tick = 0;
  std::uint64_t start_ticks = 0;
  Counter last_ticks{};  // of the last call of MPI that returned
  Counter mpi_ticks{};
  std::array<Histogram, memories> histograms{};
};
static_assert(Counter::is_always_lock_free && sizeof(Counter) == sizeof(std::uint64_t));

/// A view of one rank's counters in memory that somebody else owns.
class Part {
 public:
  Part() = default;
  explicit Part(void* memory) : header_(static_cast<PartHeader*>(memory)) {}

  [[nodiscard]] static std::size_t size_bytes(int ranks) {
    return sizeof(PartHeader) + sizeof(Counter) * 2 * memories * quantities * static_cast<std::size_t>(ranks);
  }
  [[nodiscard]] PartHeader& header() const { return *header_; }
  /// One counter per rank of the job. Those of both quantities, and those of both memories, follow each other.
  [[nodiscard]] Counter* row(Direction direction, Memory memory, Quantity quantity) const {
    const int index = (static_cast<int>(direction) * memories + static_cast<int>(memory)) * quantities +
                      static_cast<int>(quantity);
    return reinterpret_cast<Counter*>(header_ + 1) + static_cast<std::size_t>(index) * header_->ranks;
  }
  /// All that was sent, or fetched: memories x quantities rows.
  [[nodiscard]] Counter* rows(Direction direction) const {
    return row(direction, Memory::host, Quantity::bytes);
  }
  [[nodiscard]] std::size_t rows_length() const {
    return static_cast<std::size_t>(memories) * quantities * header_->ranks;
  }
  [[nodiscard]] double seconds() const {
    const std::uint64_t last = header_->last_ticks.load(std::memory_order_relaxed);
    return static_cast<double>(last - header_->start_ticks) * header_->seconds_per_tick;
  }
  /// An estimate, since immediate calls are timed by samples, but never more than the whole.
  [[nodiscard]] double communication_seconds() const {
    const std::uint64_t in_mpi = header_->mpi_ticks.load(std::memory_order_relaxed);
    return std::min(static_cast<double>(in_mpi) * header_->seconds_per_tick, seconds());
  }

 private:
  PartHeader* header_ = nullptr;
};

/// The file beside `output` that a rank's counters lie in until the output is written.
inline std::string part_path(const std::string& output, int rank) {
  return output + ".rank" + std::to_string(rank);
}

}  // namespace selvage::profile
