#pragma once

#include "allreduce_algorithm.hpp"
#include "group_collectives.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace selvage::detail {

/// Takes one chunk after the other up the levels, as far as this rank leads its group, and down again.
class ChunkPipeline {
 public:
  /// Collective over the context.
  /// \param lane  distinguishes its messages
  ChunkPipeline(const AllreduceParts& parts, const std::vector<Level>& levels, std::int64_t most_count,
                int lane);

  [[nodiscard]] bool is_idle() const { return count_ == 0; }
  /// The number of the last chunk that was started.
  [[nodiscard]] std::int64_t begin() const { return begin_; }
  void enter(Executor& executor, std::int64_t begin, std::int64_t count);
  /// Polls. \return true when the chunk is done
  [[nodiscard]] bool progress(Executor& executor);
  [[nodiscard]] std::string describe_late() const { return levels_[level_]->describe_late(); }
  [[nodiscard]] std::int64_t bytes_between_hosts() const;

 private:
  void conclude() const;
  [[nodiscard]] std::byte* elements() const;

  Elements elements_;
  ReduceOperation operation_;
  int ranks_;
  std::int64_t width_;
  MessageMemory memory_;
  std::byte* staging_ = nullptr;  ///< of a chunk; null on hosts
  std::vector<std::unique_ptr<GroupCollective>> levels_;
  std::int64_t begin_ = 0;
  std::int64_t count_ = 0;
  std::byte* chunk_ = nullptr;  ///< in host memory
  std::size_t level_ = 0;
  bool is_rising_ = true;
};

}  // namespace selvage::detail
