#include "run_table.hpp"

#include "layouts/prepared_copy.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace selvage::detail {
namespace {

/// From here on a block is copied by a warp, in pieces of at most piece_bytes; shorter ones by single threads.
constexpr std::int64_t long_block_bytes = 512;
constexpr std::int64_t piece_bytes = 2048;
/// Words and pieces per block of threads: small messages use one, large ones fill the links.
constexpr std::uint64_t words_per_chunk = 4 * run_threads_per_block;
constexpr std::uint64_t pieces_per_chunk = run_warps_per_block;
constexpr std::int64_t most_items_per_run = std::int64_t{1} << 31;

/// The widest word that a run's addresses, strides and length are multiples of.
std::uint32_t word_bytes(const CopyRun& run) {
  std::uint64_t bits = static_cast<std::uint64_t>(run.source | run.target | run.bytes);
  if (run.count > 1) bits |= static_cast<std::uint64_t>(run.source_stride | run.target_stride);
  constexpr std::uint64_t widest = 16;
  return 1U << std::countr_zero(bits | widest);
}

CopyRun some_blocks_of(CopyRun run, std::int64_t first, std::int64_t count) {
  run.source += first * run.source_stride;
  run.target += first * run.target_stride;
  run.count = count;
  return run;
}

/// One run of the pieces of one block.
void cut_block(const CopyRun& block, std::vector<CopyRun>& short_runs, std::vector<CopyRun>& long_runs) {
  const std::int64_t pieces = block.bytes / piece_bytes;
  long_runs.push_back({block.source, block.target, piece_bytes, pieces, piece_bytes, piece_bytes});
  const std::int64_t done = pieces * piece_bytes;
  if (done == block.bytes) return;
  auto& rest = block.bytes - done < long_block_bytes ? short_runs : long_runs;
  rest.push_back({.source = block.source + done, .target = block.target + done, .bytes = block.bytes - done});
}

/// One run of the first pieces of all blocks, one of the second pieces, and so on.
void cut_all_blocks(CopyRun run, std::vector<CopyRun>& short_runs, std::vector<CopyRun>& long_runs) {
  std::int64_t left = run.bytes;
  for (; left > 0; left -= run.bytes) {
    run.bytes = std::min(left, piece_bytes);
    (run.bytes < long_block_bytes ? short_runs : long_runs).push_back(run);
    run.source += run.bytes;
    run.target += run.bytes;
  }
}

void sort_in(const CopyRun& run, std::vector<CopyRun>& short_runs, std::vector<CopyRun>& long_runs) {
  if (run.bytes < long_block_bytes) {
    const std::int64_t most = std::max<std::int64_t>(1, most_items_per_run / run.bytes);
    for (std::int64_t first = 0; first < run.count; first += most)
      short_runs.push_back(some_blocks_of(run, first, std::min(most, run.count - first)));
    return;
  }
  if (run.bytes <= piece_bytes) {
    long_runs.push_back(run);
  } else if (run.count <= run.bytes / piece_bytes) {
    for (std::int64_t block = 0; block < run.count; ++block)
      cut_block(some_blocks_of(run, block, 1), short_runs, long_runs);
  } else {
    cut_all_blocks(run, short_runs, long_runs);
  }
}

class DeviceRunCopy final : public PreparedCopy {
 public:
  explicit DeviceRunCopy(const std::vector<CopyRun>& placed) {
    table_.add(placed, 0);
    program_ = table_.upload();
  }
  void enqueue(Executor& executor) const override {
    launch_copy_runs(program_, static_cast<cudaStream_t>(executor.stream()));
  }

 private:
  RunTable table_;
  RunProgram program_{};
};

}  // namespace

std::uint64_t RunTable::add(const std::vector<CopyRun>& placed, std::uint32_t peer) {
  const std::size_t chunks_before = chunks_.size();
  std::vector<CopyRun> short_runs;
  std::vector<CopyRun> long_runs;
  for (const CopyRun& run : placed) sort_in(run, short_runs, long_runs);
  add_kind(short_runs, peer, false);
  add_kind(long_runs, peer, true);
  return chunks_.size() - chunks_before;
}

RunProgram RunTable::upload() {
  device_runs_ = DeviceArray<DeviceRun>(runs_);
  device_chunks_ = DeviceArray<RunChunk>(chunks_);
  return {.chunks = device_chunks_.data(),
          .runs = device_runs_.data(),
          .chunk_count = static_cast<std::uint32_t>(chunks_.size())};
}

void RunTable::add_kind(const std::vector<CopyRun>& runs, std::uint32_t peer, bool by_warp) {
  const std::size_t first_run = runs_.size();
  std::uint64_t items = 0;
  for (const CopyRun& run : runs) {
    const std::uint32_t word = word_bytes(run);
    const auto block_words = static_cast<std::uint32_t>(run.bytes / word);
    runs_.push_back({reinterpret_cast<const std::byte*>(run.source), reinterpret_cast<std::byte*>(run.target),
                     run.source_stride, run.target_stride, items, block_words, word});
    items += static_cast<std::uint64_t>(run.count) * (by_warp ? 1 : block_words);
  }
  cut_chunks(first_run, items, peer, by_warp);
}

void RunTable::cut_chunks(std::size_t first_run, std::uint64_t items, std::uint32_t peer, bool by_warp) {
  const std::uint64_t per_chunk = by_warp ? pieces_per_chunk : words_per_chunk;
  std::size_t run = first_run;
  for (std::uint64_t first = 0; first < items; first += per_chunk) {
    const std::uint64_t count = std::min(per_chunk, items - first);
    while (run + 1 < runs_.size() && runs_[run + 1].begin <= first) ++run;
    std::size_t last = run;
    while (last + 1 < runs_.size() && runs_[last + 1].begin < first + count) ++last;
    chunks_.push_back({first, static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(run),
                       static_cast<std::uint32_t>(last - run + 1), peer, by_warp});
  }
}

std::unique_ptr<PreparedCopy> make_device_run_copy(const std::vector<CopyRun>& placed) {
  return std::make_unique<DeviceRunCopy>(placed);
}

}  // namespace selvage::detail
