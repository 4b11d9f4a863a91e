#pragma once

#include <selvage/selvage.h>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace selvage::test {

using DeviceMemory = Kokkos::DefaultExecutionSpace::memory_space;
inline constexpr bool has_device_memory =
    !Kokkos::SpaceAccessibility<Kokkos::HostSpace, DeviceMemory>::accessible;

/// Elements in the memory that a test is about.
template <class T>
class Array {
 public:
  Array(selvage_memory memory, std::size_t count) : host_(count), is_device_(memory == SELVAGE_DEVICE) {
    if (is_device_) device_ = Kokkos::View<T*, DeviceMemory>("elements", count);
  }
  [[nodiscard]] T* data() { return is_device_ ? device_.data() : host_.data(); }
  [[nodiscard]] std::size_t size() const { return host_.size(); }
  /// To write, before put(), and to read, after get().
  [[nodiscard]] T& operator[](std::size_t i) { return host_[i]; }
  void put() {
    if (is_device_) Kokkos::deep_copy(device_, mirror());
  }
  void get() {
    if (is_device_) Kokkos::deep_copy(mirror(), device_);
  }
  void fill(const std::vector<T>& values) {
    std::ranges::copy(values, host_.begin());
    put();
  }

 private:
  [[nodiscard]] Kokkos::View<T*, Kokkos::HostSpace> mirror() {
    return Kokkos::View<T*, Kokkos::HostSpace>(host_.data(), host_.size());
  }

  std::vector<T> host_;
  Kokkos::View<T*, DeviceMemory> device_;
  bool is_device_;
};

struct Destroy {
  void operator()(selvage_context* context) const { selvage_context_destroy(context); }
  void operator()(selvage_grid* grid) const { selvage_grid_destroy(grid); }
  void operator()(selvage_halo* halo) const { selvage_halo_destroy(halo); }
  void operator()(selvage_list* list) const { selvage_list_destroy(list); }
  void operator()(selvage_allreduce* allreduce) const { selvage_allreduce_destroy(allreduce); }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

#define SELVAGE_OK(call) ASSERT_EQ(call, SELVAGE_SUCCESS) << selvage_message()

/// \return whether the call failed so, with a message that has this in it
inline testing::AssertionResult fails(selvage_status status, selvage_status expected,
                                      const std::string& text) {
  const std::string message = selvage_message();
  if (status == expected && message.find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "status " << status << ", message: " << message;
}

inline constexpr int rows = 11;
inline constexpr int columns = 10;
/// Two columns of ghosts before a rank's, one after them, and one row on both sides.
inline constexpr std::array<std::array<int, 2>, 2> ghosts{{{1, 1}, {2, 1}}};

inline double value_of(std::int64_t i, std::int64_t j) {
  return static_cast<double>(100 * ((i + rows) % rows) + (j + columns) % columns);
}

class CInterface : public testing::TestWithParam<selvage_memory> {
 protected:
  void SetUp() override {
    SELVAGE_OK(selvage_initialize());
    selvage_context* made = nullptr;
    SELVAGE_OK(selvage_context_create(MPI_COMM_WORLD, GetParam(), nullptr, &made));
    context.reset(made);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }

  void make_grid() {
    const selvage_grid_options options{
        .axes = 2, .cells = {rows, columns}, .periodic = {1, 1}, .ranks = {0, 0}, .keep_order = 1};
    selvage_grid* made = nullptr;
    SELVAGE_OK(selvage_grid_create(context.get(), &options, &made));
    grid.reset(made);
    SELVAGE_OK(selvage_grid_box(grid.get(), rank, begin.data(), end.data()));
    for (int axis = 0; axis < 2; ++axis)
      extents[axis] = end[axis] - begin[axis] + ghosts[axis][0] + ghosts[axis][1];
  }

  /// The first axis is the fastest, as in Fortran.
  [[nodiscard]] std::size_t at(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>((i - begin[0] + ghosts[0][0]) +
                                    (j - begin[1] + ghosts[1][0]) * extents[0]);
  }
  [[nodiscard]] bool is_own(std::int64_t i, std::int64_t j) const {
    return i >= begin[0] && i < end[0] && j >= begin[1] && j < end[1];
  }
  /// function(i, j) for the global indices of cells and ghosts
  template <class Function>
  void each_cell(const Function& function) const {
    for (std::int64_t j = begin[1] - ghosts[1][0]; j < end[1] + ghosts[1][1]; ++j)
      for (std::int64_t i = begin[0] - ghosts[0][0]; i < end[0] + ghosts[0][1]; ++i) function(i, j);
  }
  [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(extents[0] * extents[1]); }

  template <class T>
  [[nodiscard]] selvage_field field_of(Array<T>& array) const {
    return {array.data(), sizeof(T), 2, {extents[0], extents[1], 0, 0}, {1, extents[0], 0, 0}};
  }
  /// Poisoned ghosts.
  void fill(Array<double>& array, double factor) {
    each_cell([&](std::int64_t i, std::int64_t j) {
      array[at(i, j)] = is_own(i, j) ? factor * value_of(i, j) : -1;
    });
    array.put();
  }
  /// \return how many cells and ghosts hold something else than `factor` times their value
  [[nodiscard]] int wrong(Array<double>& array, double factor) {
    array.get();
    int count = 0;
    each_cell(
        [&](std::int64_t i, std::int64_t j) { count += array[at(i, j)] != factor * value_of(i, j) ? 1 : 0; });
    return count;
  }
  [[nodiscard]] static selvage_halo_options halo_options() {
    return {.width = {{ghosts[0][0], ghosts[0][1]}, {ghosts[1][0], ghosts[1][1]}, {0, 0}},
            .corners = 1,
            .alternating = 0,
            .transport = nullptr,
            .initiation = nullptr};
  }
  void make_halo(const std::vector<selvage_field>& fields) {
    const selvage_halo_options options = halo_options();
    selvage_halo* made = nullptr;
    SELVAGE_OK(
        selvage_halo_create(grid.get(), &options, static_cast<int>(fields.size()), fields.data(), &made));
    halo.reset(made);
  }

  int rank = 0;
  int size = 0;
  std::array<std::int64_t, 2> begin{};
  std::array<std::int64_t, 2> end{};
  std::array<std::int64_t, 2> extents{};
  Owned<selvage_context> context;
  Owned<selvage_grid> grid;
  Owned<selvage_halo> halo;
};

/// The memories of a suite, and what its runs are called.
inline std::vector<selvage_memory> memories() {
  if (has_device_memory) return {SELVAGE_HOST, SELVAGE_DEVICE};
  return {SELVAGE_HOST};
}
inline std::string name_of(const testing::TestParamInfo<selvage_memory>& memory) {
  return memory.param == SELVAGE_HOST ? "host" : "device";
}

}  // namespace selvage::test
