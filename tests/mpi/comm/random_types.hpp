#pragma once

#include <selvage/comm/datatype.hpp>
#include <selvage/error.hpp>

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace selvage::test {

/// One layout, made by us and made by MPI. The MPI type is committed, and freed with the last copy.
struct TypePair {
  Datatype ours;
  std::shared_ptr<MPI_Datatype> mpi;
  std::string text;  ///< how it was made, for failures
};

inline TypePair paired(const Datatype& ours, MPI_Datatype mpi, std::string text) {
  MPI_Type_commit(&mpi);
  return {ours,
          std::shared_ptr<MPI_Datatype>(new MPI_Datatype(mpi),
                                        [](MPI_Datatype* type) {
                                          MPI_Type_free(type);
                                          delete type;
                                        }),
          std::move(text)};
}

/// Random nested types, each by the same call here and in MPI.
class RandomTypes {
 public:
  /// \param element_bytes  of all elements; 0 for elements of any size
  /// \param same_bounds    give MPI's types our bounds, which it else pads where elements are aligned
  RandomTypes(unsigned seed, int element_bytes, bool same_bounds)
      : engine_(seed),
        element_bytes_(element_bytes),
        same_bounds_(same_bounds),
        least_(same_bounds && packs_empty_parts ? 0 : 1) {}

  TypePair make(int depth) {
    if (depth == 0) return basic();
    switch (number(0, 8)) {
      case 0:
        return contiguous(make(depth - 1));
      case 1:
        return vector(make(depth - 1));
      case 2:
        return hvector(make(depth - 1));
      case 3:
        return indexed(make(depth - 1));
      case 4:
        return hindexed(make(depth - 1));
      case 5:
        return subarray(make(depth - 1));
      case 6:
      case 7:
        return structure(depth - 1);
      default:
        return resized(make(depth - 1));
    }
  }

  /// Several of one type, as the count of MPI_Send.
  TypePair several(const TypePair& type, std::int64_t count) {
    MPI_Datatype mpi = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(count), *type.mpi, &mpi);
    return finished(Datatype::contiguous(count, type.ours), mpi, call("several", {count}, type.text));
  }

  int number(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }

 private:
#ifdef MPICH
  /// MPI_Pack of MPICH 4.0 divides by the size of parts without elements.
  static constexpr bool packs_empty_parts = false;
#else
  static constexpr bool packs_empty_parts = true;
#endif

  TypePair finished(const Datatype& ours, MPI_Datatype mpi, const std::string& text) {
    if (!same_bounds_) return paired(ours, mpi, text);
    MPI_Datatype bounded = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(mpi, ours.lower_bound(), ours.extent(), &bounded);
    MPI_Type_free(&mpi);
    return paired(ours, bounded, text);
  }

  static std::string call(const char* name, const std::vector<std::int64_t>& numbers,
                          const std::string& child) {
    std::string text = name + std::string("(");
    for (const std::int64_t value : numbers) text += std::to_string(value) + " ";
    return text + child + ")";
  }

  TypePair basic() {
    static const std::array<MPI_Datatype, 4> types{MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE};
    const int bytes = element_bytes_ > 0 ? element_bytes_ : 1 << number(0, 3);
    MPI_Datatype mpi = MPI_DATATYPE_NULL;
    MPI_Type_dup(types[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3], &mpi);
    return paired(Datatype::element(bytes), mpi, std::to_string(bytes));
  }

  TypePair contiguous(const TypePair& child) {
    const int count = number(least_, 4);
    MPI_Datatype mpi = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(count, *child.mpi, &mpi);
    return finished(Datatype::contiguous(count, child.ours), mpi, call("contiguous", {count}, child.text));
  }

  TypePair vector(const TypePair& child) {
    const int count = number(least_, 4);
    const int length = number(least_, 3);
    const int stride = not_back_one(number(-3, 5));
    MPI_Datatype mpi = MPI_DATATYPE_NULL;
    MPI_Type_vector(count, length, stride, *child.mpi, &mpi);
    return finished(Datatype::vector(count, length, stride, child.ours), mpi,
                    call("vector", {count, length, stride}, child.text));
  }

  TypePair hvector(const TypePair& child) {
    const int count = number(least_, 4);
    const int length = number(least_, 3);
    const int stride = not_back_one(number(-50, 99));
    MPI_Datatype mpi = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(count, length, stride, *child.mpi, &mpi);
    return finished(Datatype::hvector(count, length, stride, child.ours), mpi,
                    call("hvector", {count, length, stride}, child.text));
  }

  /// Open MPI 4.1 takes a stride of -1 for +1: of MPI_Type_vector(2, 1, -1, MPI_BYTE) it packs bytes 0 and 1.
  static int not_back_one(int stride) {
    return stride == -1 ? -2 : stride;
  }

  /// Lengths may be 0 where MPI can pack that.
  struct Blocks {
    std::vector<int> lengths;
    std::vector<int> displacements;
    std::vector<MPI_Aint> bytes;
    std::vector<std::int64_t> long_lengths;
    std::vector<std::int64_t> long_displacements;
    /// Length and displacement, in turn.
    [[nodiscard]] std::vector<std::int64_t> numbers() const {
      std::vector<std::int64_t> result;
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        result.push_back(lengths[i]);
        result.push_back(displacements[i]);
      }
      return result;
    }
  };
  Blocks blocks(int least, int most) {
    Blocks result;
    const int count = number(least_, 5);
    for (int i = 0; i < count; ++i) {
      result.lengths.push_back(number(i == 0 || !packs_empty_parts ? least_ : 0, 3));
      result.displacements.push_back(number(least, most));
      result.bytes.push_back(result.displacements.back());
      result.long_lengths.push_back(result.lengths.back());
      result.long_displacements.push_back(result.displacements.back());
    }
    return result;
  }

  TypePair indexed(const TypePair& child) {
    const Blocks list = blocks(-3, 12);
    MPI_Datatype mpi = MPI_DATATYPE_NULL;
    MPI_Type_indexed(static_cast<int>(list.lengths.size()), list.lengths.data(), list.displacements.data(),
                     *child.mpi, &mpi);
    return finished(Datatype::indexed(list.long_lengths, list.long_displacements, child.ours), mpi,
                    call("indexed", list.numbers(), child.text));
  }

  TypePair hindexed(const TypePair& child) {
    const Blocks list = blocks(-30, 150);
    MPI_Datatype mpi = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(static_cast<int>(list.lengths.size()), list.lengths.data(), list.bytes.data(),
                             *child.mpi, &mpi);
    return finished(Datatype::hindexed(list.long_lengths, list.long_displacements, child.ours), mpi,
                    call("hindexed", list.numbers(), child.text));
  }

  TypePair subarray(const TypePair& child) {
    const int axes = number(1, 3);
    std::array<std::vector<int>, 3> of;  // sizes, subsizes, starts
    for (int axis = 0; axis < axes; ++axis) {
      of[0].push_back(number(1, 5));
      of[1].push_back(number(1, of[0].back()));
      of[2].push_back(number(0, of[0].back() - of[1].back()));
    }
    std::vector<int> numbers;
    for (const auto& list : of) numbers.insert(numbers.end(), list.begin(), list.end());
    MPI_Datatype mpi = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(axes, of[0].data(), of[1].data(), of[2].data(), MPI_ORDER_C, *child.mpi, &mpi);
    const auto wide = [](const std::vector<int>& list) {
      return std::vector<std::int64_t>(list.begin(), list.end());
    };
    return finished(Datatype::subarray(wide(of[0]), wide(of[1]), wide(of[2]), child.ours), mpi,
                    call("subarray", wide(numbers), child.text));
  }

  TypePair structure(int depth) {
    const Blocks list = blocks(-30, 150);
    std::vector<TypePair> members;
    std::vector<MPI_Datatype> mpi_types;
    std::vector<Datatype> types;
    for (std::size_t i = 0; i < list.lengths.size(); ++i) {
      members.push_back(make(number(0, depth)));
      mpi_types.push_back(*members.back().mpi);
      types.push_back(members.back().ours);
    }
    MPI_Datatype mpi = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(static_cast<int>(list.lengths.size()), list.lengths.data(), list.bytes.data(),
                           mpi_types.data(), &mpi);
    std::string text = call("struct", list.numbers(), {});
    for (const TypePair& member : members) text += "\n    of " + member.text;
    return finished(Datatype::structure(list.long_lengths, list.long_displacements, types), mpi, text);
  }

  TypePair resized(const TypePair& child) {
    const int lower = number(-20, 20);
    const int extent = number(0, 120);
    MPI_Datatype mpi = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(*child.mpi, lower, extent, &mpi);
    return paired(Datatype::resized(child.ours, lower, extent), mpi,
                  call("resized", {lower, extent}, child.text));
  }

  std::mt19937 engine_;
  int element_bytes_;
  bool same_bounds_;
  int least_;  ///< of counts: Open MPI lets types without elements widen the bounds
};

}  // namespace selvage::test
