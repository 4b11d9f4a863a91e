#include "flatten.hpp"

#include <selvage/comm/datatype.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace selvage {
namespace {

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result))
    throw Error(ErrorKind::usage,
                fmt::format("a datatype reaches {} x {} bytes, more than 64 bits count", a, b));
  return result;
}
std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result))
    throw Error(ErrorKind::usage,
                fmt::format("a datatype reaches {} + {} bytes, more than 64 bits count", a, b));
  return result;
}

void require_count(std::int64_t count, const char* what) {
  if (count < 0) throw Error(ErrorKind::usage, fmt::format("a datatype's {} is {}", what, count));
}
void require_same_length(std::size_t lengths, std::size_t displacements) {
  if (lengths == displacements) return;
  throw Error(ErrorKind::usage,
              fmt::format("a datatype of {} block lengths but {} displacements", lengths, displacements));
}

/// A sequence of element sizes as a number that joins like the sequence does: a polynomial over the field of
/// 2^61 - 1, so that a type of any count is summed up without being walked.
constexpr std::uint64_t modulus = (std::uint64_t{1} << 61) - 1;
constexpr std::uint64_t base = 0x1a2b3c4d5e6f7081 % modulus;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % modulus);
}
std::uint64_t power_of_base(std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (std::uint64_t square = base; exponent > 0; exponent >>= 1, square = times(square, square)) {
    if ((exponent & 1) != 0) result = times(result, square);
  }
  return result;
}
detail::TypeSignature joined(const detail::TypeSignature& first, const detail::TypeSignature& second) {
  return {first.elements + second.elements,
          (times(first.hash, power_of_base(second.elements)) + second.hash) % modulus};
}
detail::TypeSignature repeated(detail::TypeSignature signature, std::int64_t count) {
  detail::TypeSignature result;
  for (; count > 0; count >>= 1, signature = joined(signature, signature)) {
    if ((count & 1) != 0) result = joined(result, signature);
  }
  return result;
}

}  // namespace

/// The size, bounds and signature of a type that consists of placed types (MPI 3.1, 4.1.7).
class Datatype::ShapeSum {
 public:
  /// `count` of a shape, `stride` apart.
  void add(const Shape& shape, std::int64_t displacement, std::int64_t count, std::int64_t stride) {
    if (count == 0 || (shape.size == 0 && !shape.is_resized)) return;
    const std::int64_t reach = product(count - 1, stride);
    const std::int64_t low = sum(displacement, std::min<std::int64_t>(0, reach));
    const std::int64_t high = sum(displacement, std::max<std::int64_t>(0, reach));
    if (shape.size > 0)
      widen(sum_.first, sum_.last, sum(low, shape.first), sum(high, shape.last), sum_.size == 0);
    // If any bounds were set explicitly, only those count.
    if (shape.is_resized && !sum_.is_resized) has_bounds_ = false;
    if (shape.is_resized || !sum_.is_resized) {
      widen(sum_.lower, sum_.upper, sum(low, shape.lower), sum(high, shape.upper), !has_bounds_);
      has_bounds_ = true;
      sum_.is_resized = shape.is_resized;
    }
    sum_.size = sum(sum_.size, product(count, shape.size));
    sum_.signature = joined(sum_.signature, repeated(shape.signature, count));
  }
  [[nodiscard]] const Shape& shape() const { return sum_; }

 private:
  static void widen(std::int64_t& low, std::int64_t& high, std::int64_t new_low, std::int64_t new_high,
                    bool is_first) {
    low = is_first ? new_low : std::min(low, new_low);
    high = is_first ? new_high : std::max(high, new_high);
  }

  Shape sum_;
  bool has_bounds_ = false;
};

Datatype Datatype::element(std::int64_t bytes) {
  if (bytes < 1) throw Error(ErrorKind::usage, fmt::format("a datatype's element has {} bytes", bytes));
  Shape shape;
  shape.size = shape.upper = shape.last = bytes;
  shape.signature = {1, static_cast<std::uint64_t>(bytes) % modulus};
  return {{detail::type_code::element, bytes}, shape};
}

Datatype Datatype::repeat(std::int64_t count, std::int64_t stride, const Datatype& type) {
  if (count == 1) return type;
  ShapeSum shape;
  shape.add(type.shape_, 0, count, stride);
  std::vector<std::int64_t> code{detail::type_code::repeat, count, stride};
  code.insert(code.end(), type.code_->begin(), type.code_->end());
  return {std::move(code), shape.shape()};
}

Datatype Datatype::contiguous(std::int64_t count, const Datatype& type) {
  require_count(count, "count");
  return repeat(count, type.extent(), type);
}

Datatype Datatype::vector(std::int64_t count, std::int64_t block_length, std::int64_t stride,
                          const Datatype& type) {
  return hvector(count, block_length, product(stride, type.extent()), type);
}

Datatype Datatype::hvector(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes,
                           const Datatype& type) {
  require_count(count, "count");
  return repeat(count, stride_bytes, contiguous(block_length, type));
}

Datatype Datatype::indexed(std::span<const std::int64_t> block_lengths,
                           std::span<const std::int64_t> displacements, const Datatype& type) {
  std::vector<std::int64_t> bytes;
  bytes.reserve(displacements.size());
  for (const std::int64_t displacement : displacements) bytes.push_back(product(displacement, type.extent()));
  return hindexed(block_lengths, bytes, type);
}

Datatype Datatype::hindexed(std::span<const std::int64_t> block_lengths,
                            std::span<const std::int64_t> displacements_bytes, const Datatype& type) {
  require_same_length(block_lengths.size(), displacements_bytes.size());
  ShapeSum shape;
  std::vector<std::int64_t> code{detail::type_code::indexed, 0, type.extent()};
  code.reserve(code.size() + 2 * block_lengths.size() + type.code_->size());
  for (std::size_t i = 0; i < block_lengths.size(); ++i) {
    require_count(block_lengths[i], "block length");
    shape.add(type.shape_, displacements_bytes[i], block_lengths[i], type.extent());
    if (block_lengths[i] == 0) continue;
    ++code[1];
    code.push_back(displacements_bytes[i]);
    code.push_back(block_lengths[i]);
  }
  code.insert(code.end(), type.code_->begin(), type.code_->end());
  return {std::move(code), shape.shape()};
}

Datatype Datatype::subarray(std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
                            std::span<const std::int64_t> starts, const Datatype& type) {
  require_same_length(sizes.size(), subsizes.size());
  require_same_length(sizes.size(), starts.size());
  Datatype block = type;
  std::int64_t stride = type.extent();
  std::int64_t displacement = 0;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    if (starts[axis] < 0 || subsizes[axis] < 0 || starts[axis] > sizes[axis] - subsizes[axis]) {
      throw Error(ErrorKind::usage, fmt::format("a subarray of {} from {} on axis {} of {} elements",
                                                subsizes[axis], starts[axis], axis, sizes[axis]));
    }
    block = repeat(subsizes[axis], stride, block);
    displacement = sum(displacement, product(starts[axis], stride));
    stride = product(stride, sizes[axis]);
  }
  const std::int64_t one = 1;
  if (displacement != 0) block = hindexed({&one, 1}, {&displacement, 1}, block);
  return resized(block, 0, stride);
}

Datatype Datatype::structure(std::span<const std::int64_t> block_lengths,
                             std::span<const std::int64_t> displacements_bytes,
                             std::span<const Datatype> types) {
  require_same_length(block_lengths.size(), displacements_bytes.size());
  require_same_length(types.size(), displacements_bytes.size());
  ShapeSum shape;
  std::vector<std::int64_t> code{detail::type_code::structure, 0};
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Datatype& type = types[i];
    require_count(block_lengths[i], "block length");
    shape.add(type.shape_, displacements_bytes[i], block_lengths[i], type.extent());
    if (block_lengths[i] == 0 || type.size() == 0) continue;
    ++code[1];
    code.insert(code.end(), {displacements_bytes[i], block_lengths[i], type.extent()});
    code.insert(code.end(), type.code_->begin(), type.code_->end());
  }
  return {std::move(code), shape.shape()};
}

Datatype Datatype::resized(const Datatype& type, std::int64_t lower_bound, std::int64_t extent) {
  Datatype result = type;
  result.shape_.lower = lower_bound;
  result.shape_.upper = sum(lower_bound, extent);
  result.shape_.is_resized = true;
  return result;
}

}  // namespace selvage
