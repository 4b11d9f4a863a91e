#pragma once

#include "bucket_layout.hpp"

#include <selvage/comm/detail/cast.hpp>
#include <selvage/comm/detail/executor.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::detail {

class ContextState;

/// One View of each gradient of a bucket, as what a collective works on: where they lie, if they follow each other in
/// memory as the bucket has them, else packed.
class BucketContents {
 public:
  BucketContents() = default;
  /// Collective.
  /// \param views  of all gradients: themselves, or what belongs to them
  /// \param wire   the type in which they travel: theirs, or bf16 for fp32
  BucketContents(ContextState& context, const Executor& executor, std::span<const Elements> views,
                 const BucketLayout& layout, ElementType wire, std::string_view purpose);

  [[nodiscard]] bool is_in_place() const { return packed_.data == nullptr; }
  [[nodiscard]] Elements as_elements(std::string label) const;
  /// Copies those of the bucket's elements that are in the range: from the Views, and back.
  void pack(Executor& executor, Caster& caster, const ElementRange& range) const;
  void unpack(Executor& executor, Caster& caster, const ElementRange& range) const;

 private:
  /// A View, and where its first element lies in the bucket.
  struct Piece {
    Elements view;
    std::int64_t offset;
  };
  enum class Direction { in, out };
  [[nodiscard]] std::byte* find_in_place(ElementType wire) const;
  void move(Executor& executor, Caster& caster, const ElementRange& range, Direction direction) const;

  std::vector<Piece> pieces_;
  Elements elements_;
  Buffer packed_;
};

}  // namespace selvage::detail
