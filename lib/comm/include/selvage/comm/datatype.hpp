#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace selvage {

namespace detail {

/// Which elements a Datatype holds, in order, without where they lie: two ends of a transfer must hold the
/// same. Elements count by their size alone; a double and a 64-bit integer are the same eight bytes.
struct TypeSignature {
  std::uint64_t elements = 0;
  std::uint64_t hash = 0;  ///< of the sequence of element sizes
  friend bool operator==(const TypeSignature&, const TypeSignature&) = default;
};

}  // namespace detail

/// Where the elements of a message lie in memory, relative to an address, and in which order they travel: the
/// derived datatypes of MPI (MPI 3.1, ch. 4.1), with MPI's names, order, extents and bounds. Local, immutable
/// and cheap to copy; types nest to any depth. Sizes, displacements and extents are in bytes unless said.
///
/// Where we differ from MPI: the extent of structure() isn't padded to an alignment (the elements' types
/// aren't known), so use resized(sizeof(T)) for arrays of a C++ struct; and counts are 64 bits wide.
///
/// All makers throw Error{usage} for negative counts and sizes, lists of different lengths, and types that
/// reach further than 64 bits count.
class Datatype {
 public:
  /// One value of `bytes` (at least 1) that is never divided; two ends agree on it.
  [[nodiscard]] static Datatype element(std::int64_t bytes);
  template <class T>
  [[nodiscard]] static Datatype of() {
    static_assert(std::is_trivially_copyable_v<T>,
                  "elements travel as bytes: they must be trivially copyable");
    return element(sizeof(T));
  }

  /// `count` of `type`, one extent apart.
  [[nodiscard]] static Datatype contiguous(std::int64_t count, const Datatype& type);
  /// `count` blocks of `block_length`, begun `stride` extents apart.
  [[nodiscard]] static Datatype vector(std::int64_t count, std::int64_t block_length, std::int64_t stride,
                                       const Datatype& type);
  /// The same with a stride in bytes.
  [[nodiscard]] static Datatype hvector(std::int64_t count, std::int64_t block_length,
                                        std::int64_t stride_bytes, const Datatype& type);
  /// Blocks at displacements counted in extents.
  [[nodiscard]] static Datatype indexed(std::span<const std::int64_t> block_lengths,
                                        std::span<const std::int64_t> displacements, const Datatype& type);
  /// The same with displacements in bytes.
  [[nodiscard]] static Datatype hindexed(std::span<const std::int64_t> block_lengths,
                                         std::span<const std::int64_t> displacements_bytes,
                                         const Datatype& type);
  /// A block of an array, last index fastest; its extent is the whole array's. Sizes count elements.
  [[nodiscard]] static Datatype subarray(std::span<const std::int64_t> sizes,
                                         std::span<const std::int64_t> subsizes,
                                         std::span<const std::int64_t> starts, const Datatype& type);
  /// Blocks of different types at displacements in bytes.
  [[nodiscard]] static Datatype structure(std::span<const std::int64_t> block_lengths,
                                          std::span<const std::int64_t> displacements_bytes,
                                          std::span<const Datatype> types);
  /// The same elements with other bounds: `extent` is the distance to the next one of an array.
  [[nodiscard]] static Datatype resized(const Datatype& type, std::int64_t lower_bound, std::int64_t extent);

  /// Of the elements: what travels.
  [[nodiscard]] std::int64_t size() const { return shape_.size; }
  [[nodiscard]] std::int64_t lower_bound() const { return shape_.lower; }
  [[nodiscard]] std::int64_t extent() const { return shape_.upper - shape_.lower; }
  /// The first byte of an element, and one past the last; both 0 without elements.
  [[nodiscard]] std::int64_t true_lower_bound() const { return shape_.first; }
  [[nodiscard]] std::int64_t true_upper_bound() const { return shape_.last; }
  /// Below the public interface.
  [[nodiscard]] const detail::TypeSignature& signature() const { return shape_.signature; }
  /// Below the public interface: how the type was made, as words that can be compared, hashed and flattened
  /// (see src/layouts/flatten.hpp). Equal words are equal layouts.
  [[nodiscard]] std::span<const std::int64_t> code() const { return *code_; }

 private:
  struct Shape {
    std::int64_t size = 0;
    std::int64_t lower = 0;
    std::int64_t upper = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool is_resized = false;  ///< its bounds were set by hand
    detail::TypeSignature signature;
  };
  class ShapeSum;

  Datatype(std::vector<std::int64_t> code, const Shape& shape)
      : code_(std::make_shared<const std::vector<std::int64_t>>(std::move(code))), shape_(shape) {}

  [[nodiscard]] static Datatype repeat(std::int64_t count, std::int64_t stride, const Datatype& type);

  std::shared_ptr<const std::vector<std::int64_t>> code_;
  Shape shape_;
};

}  // namespace selvage
