#include "copy_runs.hpp"

#include <algorithm>
#include <utility>

namespace selvage::detail {

void RunBuilder::add(const CopyRun& run) {
  if (run.bytes == 0 || run.count == 0) return;
  if (run.source_stride == run.bytes && run.target_stride == run.bytes) {
    add_block(run.source, run.target, run.bytes * run.count);
    return;
  }
  // The first block may continue the block before it, and the last one may be continued by the block after it.
  add_block(run.source, run.target, run.bytes);
  if (run.count == 1) return;
  const std::int64_t last = run.count - 1;
  if (last > 1) {
    close_block();
    append({run.source + run.source_stride, run.target + run.target_stride, run.bytes, last - 1,
            run.source_stride, run.target_stride});
  }
  add_block(run.source + last * run.source_stride, run.target + last * run.target_stride, run.bytes);
}

void RunBuilder::add_block(std::int64_t source, std::int64_t target, std::int64_t bytes) {
  if (source == open_.source + open_.bytes && target == open_.target + open_.bytes && open_.bytes > 0) {
    open_.bytes += bytes;
    return;
  }
  close_block();
  open_ = {.source = source, .target = target, .bytes = bytes};
}

void RunBuilder::close_block() {
  if (open_.bytes > 0) append(open_);
  open_ = {};
}

void RunBuilder::append(const CopyRun& run) {
  if (!runs_.empty() && runs_.back().bytes == run.bytes) {
    CopyRun& last = runs_.back();
    const std::int64_t source_step = run.source - last.source - (last.count - 1) * last.source_stride;
    const std::int64_t target_step = run.target - last.target - (last.count - 1) * last.target_stride;
    const auto steps_so = [&](const CopyRun& other) {
      return other.count == 1 || (other.source_stride == source_step && other.target_stride == target_step);
    };
    if (steps_so(last) && steps_so(run)) {
      last.count += run.count;
      last.source_stride = source_step;
      last.target_stride = target_step;
      return;
    }
  }
  runs_.push_back(run);
}

std::vector<CopyRun> RunBuilder::finish() {
  close_block();
  return std::exchange(runs_, {});
}

namespace {

/// Walks the elements of a flattened layout, which lie on the source side of its runs.
class Cursor {
 public:
  explicit Cursor(std::span<const CopyRun> runs) : run_(runs.data()), end_(runs.data() + runs.size()) {}

  [[nodiscard]] bool done() const { return run_ == end_; }
  [[nodiscard]] bool at_block() const { return offset_ == 0; }
  [[nodiscard]] std::int64_t displacement() const {
    return run_->source + block_ * run_->source_stride + offset_;
  }
  [[nodiscard]] std::int64_t block_bytes() const { return run_->bytes; }
  [[nodiscard]] std::int64_t stride() const { return run_->source_stride; }
  [[nodiscard]] std::int64_t blocks_left() const { return run_->count - block_; }
  [[nodiscard]] std::int64_t bytes_left() const { return run_->bytes - offset_; }

  /// At most to the end of the block.
  void pass_bytes(std::int64_t bytes) {
    offset_ += bytes;
    if (offset_ == run_->bytes) pass_blocks(1);
  }
  void pass_blocks(std::int64_t blocks) {
    offset_ = 0;
    block_ += blocks;
    if (block_ < run_->count) return;
    block_ = 0;
    ++run_;
  }

 private:
  const CopyRun* run_;
  const CopyRun* end_;
  std::int64_t block_ = 0;
  std::int64_t offset_ = 0;
};

/// The longest run that covers what comes next on both sides.
CopyRun next_run(Cursor& source, Cursor& target) {
  CopyRun run{.source = source.displacement(), .target = target.displacement()};
  if (source.at_block() && target.at_block() && source.block_bytes() == target.block_bytes()) {
    run.bytes = source.block_bytes();
    run.count = std::min(source.blocks_left(), target.blocks_left());
    run.source_stride = source.stride();
    run.target_stride = target.stride();
    source.pass_blocks(run.count);
    target.pass_blocks(run.count);
  } else if (target.at_block() && source.bytes_left() >= target.block_bytes()) {
    run.bytes = target.block_bytes();
    run.count = std::min(target.blocks_left(), source.bytes_left() / run.bytes);
    run.source_stride = run.bytes;
    run.target_stride = target.stride();
    source.pass_bytes(run.count * run.bytes);
    target.pass_blocks(run.count);
  } else if (source.at_block() && target.bytes_left() >= source.block_bytes()) {
    run.bytes = source.block_bytes();
    run.count = std::min(source.blocks_left(), target.bytes_left() / run.bytes);
    run.source_stride = source.stride();
    run.target_stride = run.bytes;
    source.pass_blocks(run.count);
    target.pass_bytes(run.count * run.bytes);
  } else {
    run.bytes = std::min(source.bytes_left(), target.bytes_left());
    source.pass_bytes(run.bytes);
    target.pass_bytes(run.bytes);
  }
  return run;
}

}  // namespace

std::vector<CopyRun> intersect(std::span<const CopyRun> source, std::span<const CopyRun> target) {
  RunBuilder builder;
  Cursor from(source);
  Cursor to(target);
  while (!from.done() && !to.done()) builder.add(next_run(from, to));
  return builder.finish();
}

std::vector<CopyRun> cut_packed(std::span<const CopyRun> runs, std::int64_t begin, std::int64_t end) {
  RunBuilder cut;
  for (const CopyRun& run : runs) {
    const auto clip = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at - run.target, 0, run.count * run.bytes);
    };
    const std::int64_t last = clip(end);
    // Packed blocks are contiguous: whole blocks stay in one run, and a cut block gets its own.
    for (std::int64_t at = clip(begin); at < last;) {
      const std::int64_t block = at / run.bytes;
      const std::int64_t offset = at % run.bytes;
      const std::int64_t whole = offset == 0 ? (last - at) / run.bytes : 0;
      const std::int64_t bytes = whole > 0 ? run.bytes : std::min(run.bytes - offset, last - at);
      const std::int64_t count = std::max<std::int64_t>(whole, 1);
      cut.add({.source = run.source + block * run.source_stride + offset,
               .target = run.target + at - begin,
               .bytes = bytes,
               .count = count,
               .source_stride = run.source_stride,
               .target_stride = run.bytes});
      at += count * bytes;
    }
  }
  return cut.finish();
}

std::vector<CopyRun> reversed(std::span<const CopyRun> runs) {
  std::vector<CopyRun> result(runs.begin(), runs.end());
  for (CopyRun& run : result) {
    std::swap(run.source, run.target);
    std::swap(run.source_stride, run.target_stride);
  }
  return result;
}

std::vector<CopyBox> boxes_of(std::span<const CopyRun> runs, const std::byte* source, std::byte* target) {
  std::vector<CopyBox> boxes;
  boxes.reserve(runs.size());
  for (const CopyRun& run : runs) {
    CopyBox& box = boxes.emplace_back();
    box.source = reinterpret_cast<const std::byte*>(reinterpret_cast<std::intptr_t>(source) + run.source);
    box.target = reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(target) + run.target);
    const bool is_word =
        run.bytes == 1 || run.bytes == 2 || run.bytes == 4 || run.bytes == 8 || run.bytes == 16;
    // Words are elements of one row, longer blocks are rows.
    const int axis = is_word ? 3 : 2;
    box.element_bytes = is_word ? run.bytes : 1;
    if (!is_word) box.extents[3] = run.bytes;
    box.source_strides[3] = box.element_bytes;
    box.target_strides[3] = box.element_bytes;
    box.extents[axis] = run.count;
    if (run.count == 1) continue;
    box.source_strides[axis] = run.source_stride;
    box.target_strides[axis] = run.target_stride;
  }
  return boxes;
}

}  // namespace selvage::detail
