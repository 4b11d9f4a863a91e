// What CUDA asks of memory that several processes map.
#include "job.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <thread>

namespace selvage::test {
namespace {

using Space = Kokkos::Cuda;
using Doubles = Kokkos::View<double*, Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Of which CUDA gives no handles to other processes.
class PoolMemory {
 public:
  explicit PoolMemory(int count) : count_(count) {
    EXPECT_EQ(cudaMallocAsync(&data_, static_cast<std::size_t>(count) * sizeof(double), nullptr),
              cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  }
  PoolMemory(const PoolMemory&) = delete;
  PoolMemory& operator=(const PoolMemory&) = delete;
  ~PoolMemory() { EXPECT_EQ(cudaFreeAsync(data_, nullptr), cudaSuccess); }
  [[nodiscard]] Doubles view() const {
    return Doubles(static_cast<double*>(data_), static_cast<std::size_t>(count_));
  }

 private:
  int count_;
  void* data_ = nullptr;
};

auto on_host_of(const Doubles& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

void expect_sums(Allreduce& allreduce, const Doubles& view, int ranks) {
  Kokkos::deep_copy(view, 1.0);
  allreduce.run(Space());
  Space().fence();
  allreduce.check();
  const auto sums = on_host_of(view);
  for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums(i), ranks) << i << '\n' << allreduce.explain();
}

TEST(PoolMemoryOfCuda, IsSummedAndSaidToBeCopied) {
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1) GTEST_SKIP() << "takes two ranks";
  const PoolMemory memory(10'000);
  Allreduce chosen(Space(), context, memory.view());
  expect_sums(chosen, memory.view(), context.size());
  if (!this_job().is_on_one_host()) return;
  Allreduce stored(Space(), context, memory.view(), {.algorithm = AllreduceAlgorithm::two_shot});
  expect_sums(stored, memory.view(), context.size());
  EXPECT_NE(stored.explain().find("copied before and after, because peers can't map"), std::string::npos)
      << stored.explain();
}

TEST(PoolMemoryOfCuda, IsExchangedThroughMpi) {
  const Context context(MPI_COMM_WORLD);
  const int size = context.size();
  if (size == 1) GTEST_SKIP() << "takes two ranks";
  const Grid<1> grid(context, {.cells = {8 * size}, .periodic = {true}});
  const PoolMemory memory(10);
  HaloExchange halo(Space(), grid, {.width = 1}, memory.view());
  // Of ranks on other hosts that is told in place of it.
  const bool is_alone = this_job().ranks_on_host_of(context.rank()) == 1;
  EXPECT_EQ(halo.explain().find("is in GPU memory that no other process can map") == std::string::npos,
            is_alone)
      << halo.explain();
  Kokkos::deep_copy(memory.view(), grid.rank());
  halo.exchange(Space(), memory.view());
  Space().fence();
  halo.check();
  const auto values = on_host_of(memory.view());
  EXPECT_EQ(values(0), (grid.rank() + size - 1) % size);
  EXPECT_EQ(values(9), (grid.rank() + 1) % size);
}

/// A word that all ranks of the host see.
class SharedWord {
 public:
  SharedWord() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    void* own = nullptr;
    MPI_Win_allocate_shared(rank == 0 ? sizeof(std::atomic<int>) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own,
                            &window_);
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &word_);
    if (rank == 0) new (word_) std::atomic<int>(0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  SharedWord(const SharedWord&) = delete;
  SharedWord& operator=(const SharedWord&) = delete;
  ~SharedWord() { MPI_Win_free(&window_); }
  [[nodiscard]] std::atomic<int>& get() const { return *static_cast<std::atomic<int>*>(word_); }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  void* word_ = nullptr;
};

/// Freeing memory that another rank maps is undefined in CUDA: nobody returns to free it before all have unmapped it.
TEST(EndOfAnAllreduce, WaitsForRanksThatStillMap) {
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1) GTEST_SKIP() << "takes two ranks";
  const SharedWord last_one_ends;
  const Kokkos::View<double*, Space> view("gradients", 10'000);
  std::optional<Allreduce> allreduce(std::in_place, Space(), context, view);
  allreduce->run(Space());
  Space().fence();
  if (context.rank() == context.size() - 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    last_one_ends.get().store(1, std::memory_order_release);
  }
  allreduce.reset();
  EXPECT_EQ(last_one_ends.get().load(std::memory_order_acquire), 1);
}

}  // namespace
}  // namespace selvage::test
