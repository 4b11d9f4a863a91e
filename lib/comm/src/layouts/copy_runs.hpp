#pragma once

#include <selvage/comm/detail/copy_box.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace selvage::detail {

/// A run of equal blocks at equal distances on both sides, in bytes relative to the address of each side. A single block is a run of
/// one. Other ranks read it in shared memory.
struct CopyRun {
  std::int64_t source = 0;
  std::int64_t target = 0;
  std::int64_t bytes = 0;  ///< of one block
  std::int64_t count = 1;
  std::int64_t source_stride = 0;
  std::int64_t target_stride = 0;
  friend bool operator==(const CopyRun&, const CopyRun&) = default;
};

/// Collects copies in order and merges them: a block with the one before it where it continues that on both sides, and equal blocks at
/// equal distances into one run.
class RunBuilder {
 public:
  void add(const CopyRun& run);
  /// Leaves the builder empty.
  [[nodiscard]] std::vector<CopyRun> finish();

 private:
  void add_block(std::int64_t source, std::int64_t target, std::int64_t bytes);
  void close_block();
  void append(const CopyRun& run);

  std::vector<CopyRun> runs_;
  CopyRun open_;  ///< the last block, which the next one may continue; none while bytes is 0
};

/// Copies from the elements of one flattened layout to the elements of another, where both hold as many
/// bytes: the two lists cut at each other's block ends (Chu et al.: the layouts need not be the same). No
/// packed buffer is left in between.
[[nodiscard]] std::vector<CopyRun> intersect(std::span<const CopyRun> source,
                                             std::span<const CopyRun> target);

/// The reverse copies: from packed elements to where they lie.
[[nodiscard]] std::vector<CopyRun> reversed(std::span<const CopyRun> runs);

/// Those of a flattened layout's copies whose packed bytes lie in [begin, end), cut at both; packed from `begin` on.
[[nodiscard]] std::vector<CopyRun> cut_packed(std::span<const CopyRun> runs, std::int64_t begin,
                                              std::int64_t end);

/// The boxes for an Executor, one per run.
[[nodiscard]] std::vector<CopyBox> boxes_of(std::span<const CopyRun> runs, const std::byte* source,
                                            std::byte* target);

}  // namespace selvage::detail
