#include "process_gpus.hpp"

#include <selvage/comm/halo_exchange.hpp>
#include <selvage/comm/halo_graph.hpp>
#include <selvage/comm/trigger.hpp>
#include <selvage/comm/typed_transfer.hpp>
#include <selvage/error.hpp>

#include <Kokkos_Graph.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>
#include <string>
#include <utility>

namespace selvage::test {
namespace {

using View = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::CudaSpace>;

/// The Context's GPU is one of two, the other one is current, and then the other way round.
class CurrentDevice : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (const std::string missing = ProcessGpus::missing(); !missing.empty()) GTEST_SKIP() << missing;
    gpus_.emplace();
  }
  void TearDown() override {
    if (gpus_) require(cudaSetDevice(Kokkos::Cuda().cuda_device()), "cudaSetDevice");
  }

  [[nodiscard]] const ProcessGpu& own() const { return gpus_->at(GetParam()); }
  [[nodiscard]] const ProcessGpu& other() const { return gpus_->at(1 - GetParam()); }
  [[nodiscard]] const Kokkos::Cuda& space() const { return own().space(); }
  [[nodiscard]] Grid<2> grid() const {
    const Context& context = own().context();
    return {context, {.cells = {4 * context.size(), 40}, .periodic = {true, true}}};
  }

  /// Makes a call while the other GPU is current, which must still be so afterwards.
  /// \return whether the call is possible here
  template <class Action>
  bool call(const char* name, const Action& action) const {
    require(cudaSetDevice(other().device()), "cudaSetDevice");
    std::string refusal;
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(to_string(error.kind()), to_string(ErrorKind::unsupported)) << name << ": " << error.what();
      refusal = error.message();
    }
    EXPECT_EQ(current_device(), other().device())
        << name << " of " << own().text() << " left GPU " << current_device() << " current; " << refusal;
    return refusal.empty();
  }

  std::optional<ProcessGpus> gpus_;
};

INSTANTIATE_TEST_SUITE_P(OfTwo, CurrentDevice, testing::Values(0, 1));

TEST_P(CurrentDevice, IsKeptByContextAndGrid) {
  std::optional<Context> context;
  std::optional<Grid<2>> grid_of;
  void* block = nullptr;
  call("Context()", [&] { context.emplace(space(), MPI_COMM_WORLD); });
  EXPECT_EQ(context->device(), own().device());
  call("allocate_shared", [&] { block = context->allocate_shared(4096); });
  call("deallocate_shared", [&] { context->deallocate_shared(block); });
  call("Grid()", [&] { grid_of.emplace(*context, GridOptions<2>{.cells = {4 * context->size(), 40}}); });
  {
    View view;
    call("Grid::allocate", [&] { view = grid_of->allocate<double, Kokkos::LayoutRight>("u", 1); });
    cudaPointerAttributes attributes{};
    require(cudaPointerGetAttributes(&attributes, view.data()), "cudaPointerGetAttributes");
    EXPECT_EQ(attributes.device, own().device()) << "a View of " << own().text();
    double sum = -1;
    Kokkos::deep_copy(space(), sum, Kokkos::subview(view, 2, 3));
    space().fence();
    EXPECT_EQ(sum, 0.0);
  }
  grid_of.reset();
  call("~Context()", [&] { context.reset(); });
}

TEST_P(CurrentDevice, IsKeptByHaloExchange) {
  const Grid<2> grid_of = grid();
  const View u = grid_of.allocate<double, Kokkos::LayoutRight>("u", 1);
  const View v = grid_of.allocate<double, Kokkos::LayoutRight>("v", 1);
  for (const Initiation initiation : {Initiation::stream, Initiation::host, Initiation::queue}) {
    const HaloOptions<2> options{.width = 1, .initiation = initiation};
    std::optional<HaloExchange> halo;
    ASSERT_TRUE(call("HaloExchange()", [&] { halo.emplace(space(), grid_of, options, u, v); }))
        << to_string(initiation);
    std::optional<HaloExchange::Pending> pending;
    call("start", [&] { static_cast<void>(pending.emplace(halo->start(space(), u))); });
    call("finish", [&] { halo->finish(space(), std::move(*pending)); });
    call("exchange", [&] { halo->exchange(space(), u, v); });
    call("reduce", [&] { halo->reduce(space(), ReduceOperation::sum, v); });
    call("explain", [&] { static_cast<void>(halo->explain()); });
    std::optional<HaloPort> port;
    if (call("device", [&] { port.emplace(halo->device(space(), u, v)); }))
      call("await", [&] { halo->await(space(), *port); });
    call("prepare_capture", [&] { halo->prepare_capture(u); });
    space().fence();
    call("check", [&] { halo->check(); });
    call("~HaloExchange()", [&] { halo.reset(); });
  }
}

TEST_P(CurrentDevice, IsKeptByNodesOfAKokkosGraph) {
  const Grid<2> grid_of = grid();
  const View u = grid_of.allocate<double, Kokkos::LayoutRight>("u", 1);
  HaloExchange halo(space(), grid_of, {.width = 1}, u);
  halo.exchange(space(), u);
  Kokkos::Experimental::Graph<Kokkos::Cuda> graph(space());
  const auto root = graph.root_node();
  // GPUs of a host map each other's memory, so the exchange needs no host.
  ASSERT_TRUE(call("prepare_capture", [&] { halo.prepare_capture(u); })) << halo.explain();
  call("then_exchange", [&] { then_exchange(space(), root, halo, u); });
  for (int submission = 0; submission < 10; ++submission) graph.submit(space());
  space().fence();
  EXPECT_NO_THROW(halo.check()) << own().text();
}

TEST_P(CurrentDevice, IsKeptByTypedTransfer) {
  const Context& context = own().context();
  const Grid<2> grid_of = grid();
  const View from = grid_of.allocate<double, Kokkos::LayoutRight>("from", 1);
  const View to = grid_of.allocate<double, Kokkos::LayoutRight>("to", 1);
  const Datatype row = Datatype::contiguous(40, Datatype::of<double>());
  const int next = (context.rank() + 1) % context.size();
  const int previous = (context.rank() + context.size() - 1) % context.size();
  std::optional<TypedTransfer> transfer;
  call("TypedTransfer()", [&] {
    transfer.emplace(space(), context, std::vector{transfer_end(next, from, row)},
                     std::vector{transfer_end(previous, to, row)});
  });
  call("start", [&] { transfer->start(space()); });
  call("finish", [&] { transfer->finish(space()); });
  call("run", [&] { transfer->run(space()); });
  space().fence();
  call("check", [&] { transfer->check(); });
  call("~TypedTransfer()", [&] { transfer.reset(); });
}

TEST_P(CurrentDevice, IsKeptByWindowTriggersAndCommandQueue) {
  const Context& context = own().context();
  std::optional<Window> window;
  ASSERT_TRUE(call("Window()", [&] { window.emplace(space(), context, 4096); }));
  std::optional<Triggers> triggers;
  const View local = grid().allocate<double, Kokkos::LayoutRight>("local", 1);
  call("Triggers()", [&] { triggers.emplace(space(), context); });
  // A threshold of 0 fires at once: the copy or message starts in this call.
  call("Triggers::add", [&] {
    triggers->add({.id = 1},
                  {.window = &*window, .target = context.rank(), .local = local.data(), .bytes = 64}, 0);
  });
  call("Triggers::progress", [&] { triggers->progress(); });
  call("Triggers::leftovers", [&] { static_cast<void>(triggers->leftovers()); });
  call("Triggers::check", [&] { triggers->check(); });
  call("~Triggers()", [&] { triggers.reset(); });
  std::optional<CommandQueue> queue;
  call("CommandQueue()", [&] { queue.emplace(space(), context, *window, CommandQueue::Options{}); });
  call("CommandQueue::progress", [&] { queue->progress(); });
  call("CommandQueue::check", [&] { queue->check(); });
  call("~CommandQueue()", [&] { queue.reset(); });
  call("~Window()", [&] { window.reset(); });
}

/// A space, or a View, of another GPU than the Context's is refused before a kernel meets it.
TEST_P(CurrentDevice, IsNotMistakenForThatOfTheContext) {
  const Grid<2> grid_of = grid();
  const View u = grid_of.allocate<double, Kokkos::LayoutRight>("u", 1);
  const View far(Kokkos::view_alloc(other().space(), "far"), u.extent(0), u.extent(1));
  const auto message_of = [&](const Kokkos::Cuda& instance, const View& view) {
    try {
      const HaloExchange halo(instance, grid_of, {.width = 1}, view);
    } catch (const Error& error) {
      EXPECT_EQ(to_string(error.kind()), to_string(ErrorKind::usage));
      return error.message();
    }
    return std::string("nothing was thrown");
  };
  const std::string wrong_space = message_of(other().space(), u);
  EXPECT_NE(wrong_space.find("an execution space on GPU"), std::string::npos) << wrong_space;
  const std::string wrong_view = message_of(space(), far);
  EXPECT_NE(wrong_view.find("View \"far\" lies on GPU"), std::string::npos) << wrong_view;
  HaloExchange halo(space(), grid_of, {.width = 1}, u);
  EXPECT_THROW(static_cast<void>(halo.start(other().space(), u)), Error);
  halo.exchange(space(), u);
  space().fence();
  EXPECT_NO_THROW(halo.check());
}

}  // namespace
}  // namespace selvage::test
