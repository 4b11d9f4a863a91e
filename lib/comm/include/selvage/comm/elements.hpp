#pragma once

#include <selvage/comm/detail/memory_kind.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace selvage {

/// A consecutive run of elements; of complex numbers, each is one.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

namespace detail {

/// What a reduction's elements are. 16-bit floating-point types are combined in fp32 and rounded once, to nearest even. Integers of
/// 8 and 16 bits are combined in 32 bits.
enum class ElementType { fp64, fp32, fp16, bf16, int32, int64, uint32, uint64, int16, uint16, int8, uint8 };

[[nodiscard]] std::string_view to_string(ElementType type);

[[nodiscard]] constexpr std::size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::fp64:
    case ElementType::int64:
    case ElementType::uint64:
      return 8;
    case ElementType::fp32:
    case ElementType::int32:
    case ElementType::uint32:
      return 4;
    case ElementType::int8:
    case ElementType::uint8:
      return 1;
    default:
      return 2;
  }
}

/// What a value of a View is, beside one element.
enum class ValueKind {
  number,          ///< just that
  complex_number,  ///< two elements; they are added, no more
};

/// A contiguous View as the elements it holds.
struct Elements {
  std::string label;
  std::byte* data = nullptr;
  std::int64_t count = 0;
  ElementType type = ElementType::fp64;
  MemoryKind memory = MemoryKind::host;
  ValueKind kind = ValueKind::number;

  [[nodiscard]] std::int64_t per_value() const { return kind == ValueKind::complex_number ? 2 : 1; }
};

}  // namespace detail

}  // namespace selvage
