#include "sgd/model/velocities.hpp"

#include "common/rank_sums.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

namespace selvage::sgd {
namespace {

using HostValues =
    Kokkos::View<const float*, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

/// What is added up over ranks at once.
constexpr std::size_t most_values = std::size_t{1} << 20;

/// Every value is one rank's, and 0 on the others. Adds bits up: adding 0 would lose the sign of -0.
void combine(MPI_Comm comm, std::span<float> values) {
  std::vector<std::int64_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  const std::vector<std::int64_t> sums = app::sum_counts(comm, "the momentum", bits);
  std::ranges::transform(sums, values.begin(), [](std::int64_t sum) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(sum));
  });
}

}  // namespace

Velocities::Velocities(std::size_t count, bool is_sharded) : count_(count), is_sharded_(is_sharded) {
  if (!is_sharded_) whole_ = Vector<float>("sgd: momentum", count);
}

Vector<float> Velocities::of(const Space& instance, std::int64_t begin, std::int64_t count) {
  if (!is_sharded_) return Kokkos::subview(whole_, std::pair(begin, begin + count));
  const auto found = by_begin_.find(begin);
  if (found != by_begin_.end()) return found->second;
  const Vector<float> shard("sgd: momentum of a shard", static_cast<std::size_t>(count));
  if (!given_.empty()) Kokkos::deep_copy(instance, shard, HostValues(given_.data() + begin, shard.extent(0)));
  return by_begin_.emplace(begin, shard).first->second;
}

std::vector<float> Velocities::gather(MPI_Comm comm) const {
  if (!given_.empty()) return given_;
  std::vector<float> values(count_);
  const auto copy = [&](const Vector<float>& from, std::int64_t begin) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
    std::copy_n(host.data(), host.extent(0), values.begin() + begin);
  };
  if (!is_sharded_) {
    copy(whole_, 0);
    return values;
  }
  for (const auto& [begin, shard] : by_begin_) copy(shard, begin);
  for (std::size_t begin = 0; begin < count_; begin += most_values)
    combine(comm, std::span(values).subspan(begin, std::min(most_values, count_ - begin)));
  return values;
}

void Velocities::set(const std::vector<float>& values) {
  if (is_sharded_) {
    given_ = values;
    by_begin_.clear();
  } else {
    Kokkos::deep_copy(whole_, HostValues(values.data(), values.size()));
  }
}

void Velocities::settle() {
  given_ = {};
}

std::int64_t Velocities::bytes() const {
  std::size_t elements = whole_.extent(0);
  for (const auto& [begin, shard] : by_begin_) elements += shard.extent(0);
  return static_cast<std::int64_t>(elements * sizeof(float));
}

}  // namespace selvage::sgd
