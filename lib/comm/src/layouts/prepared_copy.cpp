#include "prepared_copy.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

namespace selvage::detail {
namespace {

/// Runs of fewer blocks are not copied as boxes, because the set-up of a box takes as long as several blocks.
constexpr std::int64_t least_blocks_per_box = 4;
/// Blocks of at least this length are copied as boxes, which may use all threads; the set-up is then negligible.
constexpr std::int64_t long_block_bytes = 1024;

/// Single short blocks of one length, wherever they lie.
struct ScatteredBlocks {
  std::int64_t bytes;
  std::vector<std::pair<const std::byte*, std::byte*>> blocks;
};

/// A length known to the compiler turns each memcpy into a few loads and stores.
template <std::size_t Bytes>
void copy_blocks(const ScatteredBlocks& scattered) {
  for (const auto& [source, target] : scattered.blocks) std::memcpy(target, source, Bytes);
}

void copy_blocks_of_any_length(const ScatteredBlocks& scattered) {
  const auto bytes = static_cast<std::size_t>(scattered.bytes);
  for (const auto& [source, target] : scattered.blocks) std::memcpy(target, source, bytes);
}

void copy_scattered(const ScatteredBlocks& scattered) {
  switch (scattered.bytes) {
    case 4:
      return copy_blocks<4>(scattered);
    case 8:
      return copy_blocks<8>(scattered);
    case 12:
      return copy_blocks<12>(scattered);
    case 16:
      return copy_blocks<16>(scattered);
    case 24:
      return copy_blocks<24>(scattered);
    default:
      return copy_blocks_of_any_length(scattered);
  }
}

/// Regular runs as boxes on the execution space, the rest by the calling thread.
class HostRunCopy final : public PreparedCopy {
 public:
  explicit HostRunCopy(const std::vector<CopyRun>& placed) {
    std::vector<CopyRun> regular;
    std::map<std::int64_t, ScatteredBlocks> by_bytes;
    for (const CopyRun& run : placed) {
      if (run.count >= least_blocks_per_box || run.bytes >= long_block_bytes) {
        regular.push_back(run);
        continue;
      }
      ScatteredBlocks& scattered = by_bytes[run.bytes];
      scattered.bytes = run.bytes;
      for (std::int64_t block = 0; block < run.count; ++block) {
        scattered.blocks.emplace_back(
            reinterpret_cast<const std::byte*>(run.source + block * run.source_stride),
            reinterpret_cast<std::byte*>(run.target + block * run.target_stride));
      }
    }
    boxes_ = boxes_of(regular, nullptr, nullptr);
    for (auto& [bytes, scattered] : by_bytes) scattered_.push_back(std::move(scattered));
  }

  void enqueue(Executor& executor) const override {
    executor.copy(boxes_);
    // On hosts, work enqueued before is complete.
    for (const ScatteredBlocks& scattered : scattered_) copy_scattered(scattered);
  }

 private:
  std::vector<CopyBox> boxes_;
  std::vector<ScatteredBlocks> scattered_;
};

class BoxCopies final : public PreparedCopy {
 public:
  explicit BoxCopies(std::vector<CopyBox> boxes) : boxes_(std::move(boxes)) {}
  void enqueue(Executor& executor) const override { executor.copy(boxes_); }

 private:
  std::vector<CopyBox> boxes_;
};

}  // namespace

void append_placed(std::vector<CopyRun>& placed, std::span<const CopyRun> runs, const std::byte* source,
                   const std::byte* target) {
  placed.reserve(placed.size() + runs.size());
  for (CopyRun run : runs) {
    run.source += static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(source));
    run.target += static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(target));
    placed.push_back(run);
  }
}

std::unique_ptr<PreparedCopy> make_box_copy(std::vector<CopyBox> boxes) {
  return std::make_unique<BoxCopies>(std::move(boxes));
}

std::unique_ptr<PreparedCopy> make_run_copy(const Executor& executor, const std::vector<CopyRun>& placed) {
  if (executor.runs_on_host()) return std::make_unique<HostRunCopy>(placed);
  return make_device_run_copy(placed);
}

}  // namespace selvage::detail
