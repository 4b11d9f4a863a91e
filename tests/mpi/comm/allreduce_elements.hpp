#pragma once

#include "allreduce_oracle.hpp"
#include "space.hpp"

#include <selvage/comm/allreduce.hpp>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <type_traits>
#include <vector>

namespace selvage::test {

/// What tests need again and again, found out once per process. \param find  of an index
template <class Value, class Find>
const std::vector<Value>& known(const std::array<int, 3>& key, std::size_t count, const Find& find) {
  static std::map<std::array<int, 3>, std::vector<Value>> all;
  std::vector<Value>& values = all[key];
  while (values.size() < count) values.push_back(find(static_cast<std::int64_t>(values.size())));
  return values;
}
/// The first `count` of value_at().
template <class T>
const std::vector<T>& known_values(int rank, int round, std::size_t count) {
  return known<T>({rank, round, -1}, count,
                  [&](std::int64_t index) { return value_at<T>(rank, index, round); });
}
/// The first `count` of expected_at().
template <class T>
const std::vector<T>& known_results(ReduceOperation operation, int ranks, int round, std::size_t count) {
  return known<T>({ranks, round, static_cast<int>(operation)}, count,
                  [&](std::int64_t index) { return expected_at<T>(operation, ranks, index, round); });
}

/// A View of `count` elements, `offset` of them behind the start of its memory; where peers map it, or not.
template <class T>
class Elements {
 public:
  using View = Kokkos::View<T*, Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Elements(const Context& context, std::int64_t count, std::int64_t offset, bool is_shared)
      : context_(context), mirror_("mirror", static_cast<std::size_t>(count)) {
    const auto all = static_cast<std::size_t>(count + offset);
    if (is_shared && on_host) {
      shared_ = context.allocate_shared(std::max<std::size_t>(1, all * sizeof(T)));
      view = View(static_cast<T*>(shared_) + offset, static_cast<std::size_t>(count));
    } else {
      owned_ = Kokkos::View<T*, Space::memory_space>("elements", all);
      view = View(owned_.data() + offset, static_cast<std::size_t>(count));
    }
  }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements() {
    if (shared_ != nullptr) context_.deallocate_shared(shared_);
  }

  void fill(int rank, int round) {
    const auto& values = known_values<T>(rank, round, mirror_.size());
    std::copy_n(values.begin(), mirror_.size(), mirror_.data());
    Kokkos::deep_copy(Space(), view, mirror_);
    Space().fence();
  }
  /// The first wrong element; -1 if there is none.
  /// \param is_ordered  whether elements are combined in rank order: then every bit counts
  std::int64_t first_wrong(ReduceOperation operation, int ranks, int round, bool is_ordered = true) {
    Kokkos::deep_copy(Space(), mirror_, view);
    Space().fence();
    if (is_ordered || !depends_on_order<T>(operation)) {
      const auto& expected = known_results<T>(operation, ranks, round, mirror_.size());
      return first_where([&](std::size_t i) { return !same_bits(mirror_(i), expected[i]); });
    }
    if constexpr (!std::is_integral_v<T>) {
      const auto& near = known_neighbourhoods(operation, ranks, round);
      return first_where([&](std::size_t i) { return !is_in(near[i], mirror_(i)); });
    }
    return -1;
  }
  /// Of the bits that first_wrong() saw.
  [[nodiscard]] std::uint64_t hash() const {
    const std::string_view bytes(reinterpret_cast<const char*>(mirror_.data()), mirror_.size() * sizeof(T));
    return std::hash<std::string_view>()(bytes);
  }
  /// Collective: whether all ranks hold those bits.
  [[nodiscard]] bool same_on_all_ranks() const {
    std::vector<std::uint64_t> all(static_cast<std::size_t>(context_.size()));
    const std::uint64_t mine = hash();
    MPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, context_.comm());
    return std::ranges::all_of(all, [&](std::uint64_t other) { return other == mine; });
  }

  View view;

 private:
  [[nodiscard]] const std::vector<Neighbourhood>& known_neighbourhoods(ReduceOperation operation, int ranks,
                                                                       int round) const {
    static std::map<std::array<int, 3>, std::vector<Neighbourhood>> all;
    std::vector<Neighbourhood>& near = all[{ranks, round, static_cast<int>(operation)}];
    while (near.size() < mirror_.size())
      near.push_back(neighbourhood_at<T>(operation, ranks, static_cast<std::int64_t>(near.size()), round));
    return near;
  }
  template <class Predicate>
  std::int64_t first_where(const Predicate& is_wrong) const {
    for (std::size_t i = 0; i < mirror_.size(); ++i) {
      if (is_wrong(i)) return static_cast<std::int64_t>(i);
    }
    return -1;
  }

  const Context& context_;
  void* shared_ = nullptr;
  Kokkos::View<T*, Space::memory_space> owned_;
  Kokkos::View<T*, Kokkos::HostSpace> mirror_;
};

}  // namespace selvage::test
