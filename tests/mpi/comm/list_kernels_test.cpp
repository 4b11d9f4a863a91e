#include <selvage/comm/detail/kokkos_list_mover.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace selvage::detail {
namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Forces = Kokkos::View<double* [3], Kokkos::LayoutLeft, Kokkos::HostSpace>;
using Energies = Kokkos::View<float*, Kokkos::HostSpace>;

/// A list of many entries for few particles, what has come for them in three blocks, one of them empty, and two fields.
class ListKernelsTest : public testing::Test {
 protected:
  static constexpr int owned = 37;
  static constexpr int entries = 600;

  ListKernelsTest() : ids_(entries), order_(entries), force_("force", owned), energy_("energy", owned) {
    std::minstd_rand dice(7);
    for (int& id : ids_) id = static_cast<int>(dice() % (owned - 2));
    for (int entry = 0; entry < entries; ++entry) order_[entry] = entries - 1 - entry;
    index_.ids = ids_.data();
    index_.order = order_.data();
    index_.entries = entries;
    index_.owned = owned;
    std::int64_t first = 0;
    for (const int count : {250, 0, 350}) {
      blocks_.emplace_back(count * particle_bytes());
      parts_.push_back({blocks_.back().data(), first, count});
      first += count;
    }
  }

  [[nodiscard]] auto fields() const { return make_fields(0, force_, energy_); }
  [[nodiscard]] std::int64_t particle_bytes() const { return packed_bytes; }
  void fill() const {
    for (int i = 0; i < owned; ++i) {
      energy_(i) = static_cast<float>(i) + 0.1F;
      for (int c = 0; c < 3; ++c) force_(i, c) = i + c / 3.0;
    }
  }
  /// Of very different sizes: another order of additions gives other bits.
  void fill_blocks() {
    std::minstd_rand dice(11);
    for (const ListPart& part : parts_) {
      for (std::int64_t i = 0; i < part.count; ++i) {
        fields().each_component([&](const auto& field, int component) {
          const int exponent = static_cast<int>(dice() % 40) - 20;
          field.in(part.block + i * particle_bytes(), component) =
              std::ldexp(1.0F + dice() % 101 / 101.0F, exponent);
        });
      }
    }
  }
  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> all;
    for (int i = 0; i < owned; ++i) {
      for (int c = 0; c < 3; ++c) all.push_back(force_(i, c));
      all.push_back(energy_(i));
    }
    return all;
  }

  /// Three doubles and a float, aligned as doubles.
  static constexpr std::int64_t packed_bytes = 32;

  std::vector<int> ids_;
  std::vector<int> order_;
  Forces force_;
  Energies energy_;
  ListIndex index_;
  std::vector<std::vector<std::byte>> blocks_;
  std::vector<ListPart> parts_;
};

TEST_F(ListKernelsTest, AddTheSameBitsByParticleAsInTurn) {
  fill_blocks();
  ListKernels<Space> kernels(Space(), index_);
  fill();
  kernels.add_in_turn(fields(), particle_bytes(), parts_);
  const std::vector<double> in_turn = values();
  for (int round = 0; round < 2; ++round) {
    fill();
    kernels.add_by_particle(fields(), particle_bytes(), parts_);
    EXPECT_EQ(values(), in_turn);
  }
  fill();
  EXPECT_NE(values(), in_turn);
}

TEST_F(ListKernelsTest, OrderByParticleIsMadeAgainForANewList) {
  fill_blocks();
  ListKernels<Space> kernels(Space(), index_);
  kernels.add_by_particle(fields(), particle_bytes(), parts_);
  for (int& id : ids_) id = owned - 1 - id;
  index_.is_ordered_by_particle = false;
  fill();
  kernels.add_by_particle(fields(), particle_bytes(), parts_);
  const std::vector<double> by_particle = values();
  fill();
  kernels.add_in_turn(fields(), particle_bytes(), parts_);
  EXPECT_EQ(values(), by_particle);
}

/// What devices run: a thread per component, all parts in one kernel.
TEST_F(ListKernelsTest, MoveComponentsOneByOneAsWholeEntries) {
  fill();
  const LoadEntry<decltype(fields())> body{fields(), ids_.data(), order_.data()};
  std::vector<DevicePart> table;
  std::int64_t begin = 0;
  for (const ListPart& part : parts_) {
    table.push_back({part.block, part.first, begin});
    begin += part.count;
  }
  const MoveParts<decltype(body)> all{body, table.data(), static_cast<int>(table.size()),
                                      fields().components(), particle_bytes()};
  for (std::int64_t i = begin * fields().components() - 1; i >= 0; --i) all(i);
  const auto by_component = blocks_;
  for (auto& block : blocks_) std::fill(block.begin(), block.end(), std::byte{0});
  for (const ListPart& part : parts_) {
    for (std::int64_t i = 0; i < part.count; ++i) MovePart<decltype(body)>{body, part, particle_bytes()}(i);
  }
  EXPECT_EQ(by_component, blocks_);
  const auto& last = parts_.back();
  EXPECT_EQ(fields().first.in(last.block + 5 * particle_bytes(), 2), force_(ids_[last.first + 5], 2));
}

}  // namespace
}  // namespace selvage::detail
