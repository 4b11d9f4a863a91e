#include "layouts/copy_runs.hpp"
#include "layouts/flatten.hpp"
#include "random_types.hpp"

#include <selvage/comm/detail/host_copy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace selvage::test {
namespace {

using PlainBytes = std::vector<std::byte>;

/// Every byte its own, as far as 251 values go.
PlainBytes numbered(std::int64_t bytes) {
  PlainBytes result(bytes);
  for (std::int64_t i = 0; i < bytes; ++i) result[i] = static_cast<std::byte>(i % 251);
  return result;
}

/// Memory that holds a type's elements, and where displacement 0 lies in it.
struct Memory {
  explicit Memory(const Datatype& type)
      : origin(std::max<std::int64_t>(0, -type.true_lower_bound())),
        bytes(numbered(origin + std::max<std::int64_t>(0, type.true_upper_bound()))) {}
  std::int64_t origin;
  PlainBytes bytes;
  [[nodiscard]] std::byte* data() { return bytes.data() + origin; }
};

void copy(std::span<const detail::CopyRun> runs, const std::byte* source, std::byte* target) {
  for (const detail::CopyBox& box : detail::boxes_of(runs, source, target))
    detail::copy_rows_on_host(box, 0, detail::row_count(box));
}

PlainBytes packed_by_us(const Datatype& type, const std::byte* data) {
  PlainBytes packed(type.size());
  copy(detail::flatten(type.code()), data, packed.data());
  return packed;
}

PlainBytes packed_by_mpi(MPI_Datatype type, const std::byte* data, std::int64_t bytes) {
  PlainBytes packed(bytes);
  int position = 0;
  if (bytes == 0) return packed;  // Open MPI refuses the null pointer of an empty vector
  MPI_Pack(data, 1, type, packed.data(), static_cast<int>(bytes), &position, MPI_COMM_SELF);
  EXPECT_EQ(position, bytes);
  return packed;
}

void unpack_by_mpi(MPI_Datatype type, const PlainBytes& packed, std::byte* data) {
  int position = 0;
  if (packed.empty()) return;
  MPI_Unpack(packed.data(), static_cast<int>(packed.size()), &position, data, 1, type, MPI_COMM_SELF);
}

/// Whether no byte is written twice: what a receiver's type must fulfil.
bool is_injective(const Datatype& type) {
  Memory memory(type);
  std::ranges::fill(memory.bytes, std::byte{0});
  const auto runs = detail::flatten(type.code());
  for (const detail::CopyRun& run : runs) {
    for (std::int64_t i = 0; i < run.count * run.bytes; ++i) {
      std::byte& byte = memory.data()[run.source + i / run.bytes * run.source_stride + i % run.bytes];
      if (byte != std::byte{0}) return false;
      byte = std::byte{1};
    }
  }
  return true;
}

/// Packed offsets ascend without gaps, no run could be part of the one before it, and strides are only given
/// where there are several blocks.
void expect_normal(const std::vector<detail::CopyRun>& runs, std::int64_t bytes) {
  std::int64_t packed = 0;
  for (const detail::CopyRun& run : runs) {
    EXPECT_EQ(run.target, packed);
    EXPECT_GT(run.bytes * run.count, 0);
    if (run.count > 1) {
      EXPECT_EQ(run.target_stride, run.bytes);
      EXPECT_NE(run.source_stride, run.bytes);
    }
    packed += run.bytes * run.count;
  }
  EXPECT_EQ(packed, bytes);
}

constexpr int trials = 3000;

TEST(Datatype, PacksInTheOrderOfMpi) {
  RandomTypes types(1, 0, true);
  int nonempty = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const TypePair type = types.make(types.number(1, 4));
    if (type.ours.size() > 100'000) continue;
    expect_normal(detail::flatten(type.ours.code()), type.ours.size());
    Memory memory(type.ours);
    ASSERT_EQ(packed_by_us(type.ours, memory.data()),
              packed_by_mpi(*type.mpi, memory.data(), type.ours.size()))
        << "trial " << trial << ": " << type.text;
    if (type.ours.size() > 0) ++nonempty;
  }
  EXPECT_GT(nonempty, trials / 3);
}

/// Without being walked: there are more than could be counted in a year.
TEST(Datatype, FlattensAnyNumberOfNothing) {
  const Datatype nothing = Datatype::vector(3, 0, 1, Datatype::of<double>());
  const Datatype many = Datatype::contiguous(std::int64_t{1} << 55, nothing);
  EXPECT_EQ(many.size(), 0);
  EXPECT_TRUE(detail::flatten(many.code()).empty());
}

TEST(Datatype, UnpacksLikeMpiAndTouchesNothingElse) {
  RandomTypes types(2, 0, true);
  int compared = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const TypePair type = types.make(types.number(1, 4));
    if (type.ours.size() > 100'000 || !is_injective(type.ours)) continue;
    const PlainBytes packed = numbered(type.ours.size());
    Memory ours(type.ours);
    Memory mpi(type.ours);
    copy(detail::reversed(detail::flatten(type.ours.code())), packed.data(), ours.data());
    unpack_by_mpi(*type.mpi, packed, mpi.data());
    ASSERT_EQ(ours.bytes, mpi.bytes) << "trial " << trial << ": " << type.text;
    if (type.ours.size() > 0) ++compared;
  }
  EXPECT_GT(compared, trials / 10);
}

/// MPICH 4.0 gives a struct the least bound of any member. By the standard (4.1, 5.1.7) bounds that were set, by resizing or by
/// a subarray, decide alone.
bool mpi_knows_bounds_of([[maybe_unused]] const TypePair& type) {
#ifdef MPICH
  return type.text.find("struct") == std::string::npos;
#else
  return true;
#endif
}

TEST(Datatype, HasTheBoundsOfMpi) {
  // Of bytes, which MPI doesn't pad.
  RandomTypes types(3, 1, false);
  int compared = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const TypePair type = types.make(types.number(1, 4));
    if (!mpi_knows_bounds_of(type)) continue;
    ++compared;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    int size = 0;
    MPI_Type_size(*type.mpi, &size);
    ASSERT_EQ(type.ours.size(), size) << "trial " << trial << ": " << type.text;
    MPI_Type_get_extent(*type.mpi, &lower, &extent);
    ASSERT_EQ(type.ours.lower_bound(), lower) << "trial " << trial << ": " << type.text;
    ASSERT_EQ(type.ours.extent(), extent) << "trial " << trial << ": " << type.text;
    if (size == 0) continue;
    MPI_Type_get_true_extent(*type.mpi, &lower, &extent);
    ASSERT_EQ(type.ours.true_lower_bound(), lower) << "trial " << trial << ": " << type.text;
    ASSERT_EQ(type.ours.true_upper_bound(), lower + extent) << "trial " << trial << ": " << type.text;
  }
  EXPECT_GT(compared, trials / 5);
}

TEST(Datatype, MovesFromOneLayoutToAnotherAsPackAndUnpackDo) {
  int compared = 0;
  for (int trial = 0; trial < trials; ++trial) {
    RandomTypes types(1000 + trial, 1 << trial % 4, true);
    const TypePair one = types.make(types.number(1, 3));
    const TypePair other = types.make(types.number(1, 3));
    const std::int64_t bytes = std::lcm(one.ours.size(), other.ours.size());
    if (bytes == 0 || bytes > 20'000) continue;
    const TypePair from = types.several(one, bytes / one.ours.size());
    const TypePair to = types.several(other, bytes / other.ours.size());
    if (!is_injective(to.ours)) continue;
    ASSERT_EQ(from.ours.signature(), to.ours.signature());
    Memory source(from.ours);
    Memory ours(to.ours);
    Memory mpi(to.ours);
    copy(detail::intersect(detail::flatten(from.ours.code()), detail::flatten(to.ours.code())), source.data(),
         ours.data());
    unpack_by_mpi(*to.mpi, packed_by_mpi(*from.mpi, source.data(), bytes), mpi.data());
    ASSERT_EQ(ours.bytes, mpi.bytes) << "trial " << trial << ": from " << from.text << "\nto " << to.text;
    ++compared;
  }
  EXPECT_GT(compared, trials / 10);
}

}  // namespace
}  // namespace selvage::test
