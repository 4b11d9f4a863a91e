#include "bucket_contents.hpp"

#include "runtime/context_state.hpp"
#include "runtime/mappable.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace selvage::detail {
BucketContents::BucketContents(ContextState& context, const Executor& executor,
                               std::span<const Elements> views, const BucketLayout& layout, ElementType wire,
                               std::string_view purpose) {
  for (std::size_t i = 0; i < layout.gradients.size(); ++i)
    pieces_.push_back({views[static_cast<std::size_t>(layout.gradients[i])], layout.offsets[i]});
  elements_ = {.label = {},
               .data = find_in_place(wire),
               .count = layout.count,
               .type = wire,
               .memory = pieces_.front().view.memory};
  // Views may be contiguous on some ranks only, but the allocation is collective.
  const bool is_packed = elements_.data == nullptr && layout.count > 0;
  context.all_or_none(purpose, [&] {
    if (is_packed)
      packed_ = allocate_mappable(context, executor, static_cast<std::size_t>(layout.count * width(wire)));
  });
  if (is_packed) elements_.data = packed_.data;
}

/// Null if the Views are not contiguous in the order of the bucket.
std::byte* BucketContents::find_in_place(ElementType wire) const {
  // Compared as numbers: the Views may be of different arrays, and pointers only count within one.
  const Piece* first = nullptr;
  for (const Piece& piece : pieces_) {
    if (piece.view.count == 0) continue;
    if (piece.view.type != wire) return nullptr;
    if (first == nullptr || piece.offset < first->offset) first = &piece;
  }
  if (first == nullptr) return nullptr;
  const auto address = [](const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data); };
  for (const Piece& piece : pieces_) {
    if (piece.view.count == 0) continue;
    const auto behind = static_cast<std::uintptr_t>((piece.offset - first->offset) * width(wire));
    if (address(piece.view.data) != address(first->view.data) + behind) return nullptr;
  }
  return first->view.data;
}

Elements BucketContents::as_elements(std::string label) const {
  Elements elements = elements_;
  elements.label = std::move(label);
  return elements;
}

void BucketContents::pack(Executor& executor, Caster& caster, const ElementRange& range) const {
  if (!is_in_place()) move(executor, caster, range, Direction::in);
}
void BucketContents::unpack(Executor& executor, Caster& caster, const ElementRange& range) const {
  if (!is_in_place()) move(executor, caster, range, Direction::out);
}

void BucketContents::move(Executor& executor, Caster& caster, const ElementRange& range,
                          Direction direction) const {
  for (const Piece& piece : pieces_) {
    const std::int64_t begin = std::max(range.begin, piece.offset);
    const std::int64_t count = std::min(range.begin + range.count, piece.offset + piece.view.count) - begin;
    if (count <= 0) continue;
    std::byte* const packed = packed_.data + begin * width(elements_.type);
    std::byte* const own = piece.view.data + (begin - piece.offset) * width(piece.view.type);
    std::byte* const target = direction == Direction::in ? packed : own;
    const std::byte* const source = direction == Direction::in ? own : packed;
    if (piece.view.type == elements_.type) {
      CopyBox box{.source = source, .target = target, .element_bytes = width(elements_.type)};
      box.extents[3] = count;
      box.source_strides[3] = box.target_strides[3] = box.element_bytes;
      executor.copy({&box, 1});
    } else if (direction == Direction::in) {
      caster.narrow_elements(target, source, count);
    } else {
      caster.widen_elements(target, source, count);
    }
  }
}

}  // namespace selvage::detail
