#include <selvage/comm/detail/host_copy.hpp>

#include <cstring>

namespace selvage::detail {
namespace {

/// Walks the rows of a box in order; one division at the start, additions after.
class RowCursor {
 public:
  RowCursor(const CopyBox& box, std::int64_t row)
      : box_(box),
        index_{row / (box.extents[1] * box.extents[2]), row / box.extents[2] % box.extents[1],
               row % box.extents[2]} {}

  [[nodiscard]] const std::byte* source() const { return box_.source + offset(box_.source_strides); }
  [[nodiscard]] std::byte* target() const { return box_.target + offset(box_.target_strides); }

  void advance() {
    if (++index_[2] < box_.extents[2]) return;
    index_[2] = 0;
    if (++index_[1] < box_.extents[1]) return;
    index_[1] = 0;
    ++index_[0];
  }

 private:
  [[nodiscard]] std::int64_t offset(const std::array<std::int64_t, 4>& strides) const {
    return index_[0] * strides[0] + index_[1] * strides[1] + index_[2] * strides[2];
  }

  const CopyBox& box_;
  std::array<std::int64_t, 3> index_;
};

/// A size known to the compiler turns each memcpy into one load and one store.
template <std::size_t ElementBytes>
void copy_strided_row(std::byte* target, std::int64_t target_stride, const std::byte* source,
                      std::int64_t source_stride, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) {
    std::memcpy(target + i * target_stride, source + i * source_stride, ElementBytes);
  }
}

void copy_row(const CopyBox& box, std::byte* target, const std::byte* source) {
  const std::int64_t from = box.source_strides[3];
  const std::int64_t to = box.target_strides[3];
  const std::int64_t elements = box.extents[3];
  switch (box.element_bytes) {
    case 1:
      return copy_strided_row<1>(target, to, source, from, elements);
    case 2:
      return copy_strided_row<2>(target, to, source, from, elements);
    case 4:
      return copy_strided_row<4>(target, to, source, from, elements);
    case 8:
      return copy_strided_row<8>(target, to, source, from, elements);
    case 16:
      return copy_strided_row<16>(target, to, source, from, elements);
    default:
      for (std::int64_t i = 0; i < elements; ++i)
        std::memcpy(target + i * to, source + i * from, box.element_bytes);
  }
}

}  // namespace

void copy_rows_on_host(const CopyBox& box, std::int64_t first, std::int64_t last) {
  const bool contiguous = box.rows_are_contiguous();
  const std::size_t row_bytes = box.extents[3] * box.element_bytes;
  RowCursor cursor(box, first);
  for (std::int64_t row = first; row < last; ++row, cursor.advance()) {
    if (contiguous) {
      std::memcpy(cursor.target(), cursor.source(), row_bytes);
    } else {
      copy_row(box, cursor.target(), cursor.source());
    }
  }
}

}  // namespace selvage::detail
