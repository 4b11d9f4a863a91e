#include "flatten.hpp"

namespace selvage::detail {
namespace {

/// A flattened type, to be placed once or many times within another.
struct Piece {
  std::vector<CopyRun> runs;
  std::int64_t bytes = 0;
};

/// Makes a Piece of placed children.
class PieceBuilder {
 public:
  /// `count` children, `stride` apart.
  void place(const Piece& child, std::int64_t displacement, std::int64_t count, std::int64_t stride) {
    if (child.bytes == 0) return;
    if (child.runs.size() == 1 && child.runs[0].count == 1) {
      const CopyRun& block = child.runs[0];
      runs_.add({displacement + block.source, bytes_, block.bytes, count, stride, block.bytes});
      bytes_ += count * child.bytes;
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      for (CopyRun run : child.runs) {
        run.source += displacement + i * stride;
        run.target += bytes_;
        runs_.add(run);
      }
      bytes_ += child.bytes;
    }
  }
  [[nodiscard]] Piece finish() { return {runs_.finish(), bytes_}; }

 private:
  RunBuilder runs_;
  std::int64_t bytes_ = 0;
};

/// Reads one type after the other.
class Reader {
 public:
  explicit Reader(std::span<const std::int64_t> code) : code_(code) {}

  Piece read() {
    switch (take()) {
      case type_code::element:
        return read_element();
      case type_code::repeat:
        return read_repeat();
      case type_code::indexed:
        return read_indexed();
      default:
        return read_structure();
    }
  }

 private:
  std::int64_t take() { return code_[position_++]; }

  Piece read_element() {
    const std::int64_t bytes = take();
    return {{{.source = 0, .target = 0, .bytes = bytes}}, bytes};
  }

  Piece read_repeat() {
    const std::int64_t count = take();
    const std::int64_t stride = take();
    PieceBuilder piece;
    piece.place(read(), 0, count, stride);
    return piece.finish();
  }

  Piece read_indexed() {
    const std::int64_t blocks = take();
    const std::int64_t extent = take();
    const auto list = code_.subspan(position_, static_cast<std::size_t>(2 * blocks));
    position_ += list.size();
    const Piece child = read();
    PieceBuilder piece;
    for (std::size_t i = 0; i < list.size(); i += 2) piece.place(child, list[i], list[i + 1], extent);
    return piece.finish();
  }

  Piece read_structure() {
    const std::int64_t members = take();
    PieceBuilder piece;
    for (std::int64_t member = 0; member < members; ++member) {
      const std::int64_t displacement = take();
      const std::int64_t length = take();
      const std::int64_t extent = take();
      piece.place(read(), displacement, length, extent);
    }
    return piece.finish();
  }

  std::span<const std::int64_t> code_;
  std::size_t position_ = 0;
};

}  // namespace

std::vector<CopyRun> flatten(std::span<const std::int64_t> code) {
  return Reader(code).read().runs;
}

}  // namespace selvage::detail
