#include "device_torus.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/list_halo.hpp>
#include <selvage/comm/typed_transfer.hpp>

#include <Kokkos_Core.hpp>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

void require(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// What one call gives the GPU to do. A launch costs microseconds whatever it does, so one more shows in every small message.
struct Work {
  int kernels = 0;
  int others = 0;  ///< copies and fills
};

/// Runs with an instance of its own, so that calls can be captured.
class Launches : public testing::Test {
 protected:
  Launches() : context_(MPI_COMM_WORLD), space_(make_stream()) {
    if (context_.machine().host_count() > 1) throw std::runtime_error("Launches wants ranks of one host");
  }
  ~Launches() override { space_.fence(); }

  /// Calls once outside a graph, since kernels load when they are first launched, and once as a graph, whose nodes are counted.
  [[nodiscard]] Work count(const std::function<void()>& call) const {
    Kokkos::fence("test::prepared");
    call();
    space_.fence();
    cudaGraph_t graph = nullptr;
    require(cudaStreamBeginCapture(space_.cuda_stream(), cudaStreamCaptureModeThreadLocal));
    call();
    require(cudaStreamEndCapture(space_.cuda_stream(), &graph));
    const Work work = count_nodes(graph);
    // The other ranks wait for what was captured.
    cudaGraphExec_t executable = nullptr;
    require(cudaGraphInstantiate(&executable, graph, 0));
    require(cudaGraphLaunch(executable, space_.cuda_stream()));
    space_.fence();
    require(cudaGraphExecDestroy(executable));
    require(cudaGraphDestroy(graph));
    return work;
  }

  [[nodiscard]] bool has_neighbours() const { return context_.size() > 1; }

  Context context_;
  Kokkos::Cuda space_;

 private:
  static Kokkos::Cuda make_stream() {
    cudaStream_t stream = nullptr;
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return Kokkos::Cuda(stream);
  }
  static Work count_nodes(cudaGraph_t graph) {
    std::size_t nodes = 0;
    require(cudaGraphGetNodes(graph, nullptr, &nodes));
    std::vector<cudaGraphNode_t> all(nodes);
    require(cudaGraphGetNodes(graph, all.data(), &nodes));
    Work work;
    for (const cudaGraphNode_t node : all) {
      cudaGraphNodeType type{};
      require(cudaGraphNodeGetType(node, &type));
      ++(type == cudaGraphNodeTypeKernel ? work.kernels : work.others);
    }
    return work;
  }
};

/// A torus of two Views, cut along one axis: along the other, and on one rank along both, a rank is its own neighbour, whose
/// ghosts one more kernel fills.
TEST_F(Launches, AnExchangeByPeerIsOneKernel) {
  const TorusCase torus{.transport = Transport::peer};
  const DeviceTorus fields(space_, context_, torus);
  HaloExchange halo = fields.plan(space_, torus, Initiation::stream);
  const Work work = count([&] { halo.exchange(space_, fields.view(0), fields.view(1)); });
  EXPECT_EQ(work.kernels, has_neighbours() ? 1 + 1 : 1);
  EXPECT_EQ(work.others, 0);
}

TEST_F(Launches, AStartedExchangeByPeerIsTwoKernels) {
  const TorusCase torus{.transport = Transport::peer};
  const DeviceTorus fields(space_, context_, torus);
  HaloExchange halo = fields.plan(space_, torus, Initiation::stream);
  const Work work = count([&] { halo.finish(space_, halo.start(space_, fields.view(0), fields.view(1))); });
  EXPECT_EQ(work.kernels, has_neighbours() ? 1 + 2 : 1);
  EXPECT_EQ(work.others, 0);
}

/// Kernels open, publish and wait. A copy each for two sides and four corners.
TEST_F(Launches, AnExchangeByCopyEnginesIsThreeKernelsAndACopyPerDirection) {
  const TorusCase torus{.transport = Transport::copy_engine};
  const DeviceTorus fields(space_, context_, torus);
  HaloExchange halo = fields.plan(space_, torus, Initiation::stream);
  const Work work = count([&] { halo.exchange(space_, fields.view(0)); });
  EXPECT_EQ(work.kernels, has_neighbours() ? 1 + 3 : 1);
  EXPECT_EQ(work.others, has_neighbours() ? 6 : 0);
}

/// To the next rank of a ring, and back. One kernel puts, one waits.
TEST_F(Launches, GatherAndScatterAddAreTwoKernelsEach) {
  const int owned = 1000;
  const Kokkos::View<int*, Kokkos::CudaSpace> ids("ids", owned);  // the first particle over and over
  const Kokkos::View<int*, Kokkos::CudaSpace> ranks("ranks", owned);
  Kokkos::deep_copy(space_, ranks, (context_.rank() + 1) % context_.size());
  ListHalo halo(space_, context_, owned, ids, ranks,
                {.transport = Transport::peer, .initiation = Initiation::stream});
  const Kokkos::View<double* [3], Kokkos::CudaSpace> positions("positions", owned + halo.ghosts());
  const Work gather = count([&] { halo.gather(space_, positions); });
  EXPECT_EQ(gather.kernels, 2);
  EXPECT_EQ(gather.others, 0);
  const Work scatter_add = count([&] { halo.scatter_add(space_, positions); });
  EXPECT_EQ(scatter_add.kernels, 2);
  EXPECT_EQ(scatter_add.others, 0);
}

TEST_F(Launches, ATypedTransferIsTwoKernels) {
  const int count_of_blocks = 1000;
  const Kokkos::View<int*, Kokkos::CudaSpace> source("source", 4 * count_of_blocks);
  const Kokkos::View<int*, Kokkos::CudaSpace> target("target", 4 * count_of_blocks);
  const Datatype type = Datatype::vector(count_of_blocks, 2, 4, Datatype::of<int>());
  const int next = (context_.rank() + 1) % context_.size();
  const int before = (context_.rank() + context_.size() - 1) % context_.size();
  TypedTransfer transfer(space_, context_, {transfer_end(next, source, type)},
                         {transfer_end(before, target, type)});
  const Work work = count([&] { transfer.run(space_); });
  EXPECT_EQ(work.kernels, has_neighbours() ? 2 : 1);
  EXPECT_EQ(work.others, 0);
}

TEST_F(Launches, AnAllreduceByStoresIsOneKernel) {
  if (context_.size() == 1) GTEST_SKIP() << "nothing to add up";
  for (const AllreduceAlgorithm algorithm :
       {AllreduceAlgorithm::one_shot, AllreduceAlgorithm::one_shot_ll128, AllreduceAlgorithm::two_shot,
        AllreduceAlgorithm::two_shot_ll128, AllreduceAlgorithm::two_shot_push,
        AllreduceAlgorithm::recursive_doubling_ll, AllreduceAlgorithm::multi_ring}) {
    SCOPED_TRACE(to_string(algorithm));
    const Kokkos::View<float*, Kokkos::CudaSpace> view("elements", 30'000);
    Allreduce allreduce(space_, context_, view, {.algorithm = algorithm, .allow_reordering = true});
    const Work work = count([&] { allreduce.run(space_); });
    EXPECT_EQ(work.kernels, 1);
    EXPECT_EQ(work.others, 0);
  }
}

}  // namespace
}  // namespace selvage::test
