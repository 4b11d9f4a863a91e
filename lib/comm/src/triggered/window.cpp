#include "gpu/make_on_device.hpp"
#include "proxy/proxy.hpp"
#include "runtime/mappable.hpp"
#include "runtime/wait.hpp"

#include <selvage/comm/trigger.hpp>

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <memory>

namespace selvage {
namespace detail {
namespace {

constexpr std::string_view window_construction = "the construction of a Window";

}  // namespace

class WindowOwner {
 public:
  WindowOwner(std::shared_ptr<ContextState> context, const Executor& executor, std::size_t bytes)
      : context_(std::move(context)), table_(proxy_of(*context_).windows()) {
    require_same_size(bytes);
    state_->bytes = bytes;
    state_->memory = executor.runs_on_host() ? MemoryKind::host : MemoryKind::device;
    context_->all_or_none(window_construction, [&] {
      context_->require_own_device(executor);
      state_->local = allocate_mappable(*context_, executor, bytes);
    });
    context_->all_or_none(window_construction,
                          [&] { proxy_of(*context_).prepare_to_receive(state_->memory); });
    map_peers();
    state_->id = table_.take_id();
    table_.add(state_);
    // No rank may put before all ranks are ready for puts.
    context_->agree({}, window_construction);
  }
  ~WindowOwner() {
    bool ended = end_transfers(context_->timeout());
    // A queue that still exists may have started others meanwhile, and would start more.
    table_.close(state_->id);
    if (ended) ended = end_transfers(context_->timeout());
    // After it no transfer of another rank arrives here.
    context_->try_barrier(context_->timeout(), [this] { proxy_of(*context_).progress(); });
    table_.remove(state_->id);
    // No rank may free memory that another still maps: that is undefined in CUDA.
    if (ended && end_transfers(parting_time)) state_->mapped.clear();
    context_->try_barrier();
  }
  WindowOwner(const WindowOwner&) = delete;
  WindowOwner& operator=(const WindowOwner&) = delete;

  [[nodiscard]] int device() const { return context_->device(); }
  [[nodiscard]] const WindowState& state() const { return *state_; }

 private:
  void require_same_size(std::size_t bytes) {
    constexpr std::size_t unit = std::size_t{1} << 20;
    const auto sizes = context_->extremes({static_cast<int>(bytes / unit), static_cast<int>(bytes % unit)},
                                          window_construction);
    for (const auto& size : sizes) {
      if (size.smallest == size.largest && bytes > 0) continue;
      throw Error(
          ErrorKind::usage,
          fmt::format("a Window needs the same size, not 0, on all ranks: this rank has {} bytes", bytes));
    }
  }

  /// Completes the transfers of this rank before the barrier of all ranks, so that after it all transfers are complete.
  /// \return whether it has ended in time
  bool end_transfers(std::chrono::milliseconds longest) noexcept {
    const auto have_ended = [&] { return state_->transfers.load(std::memory_order_acquire) == 0; };
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized || std::uncaught_exceptions() != 0) return have_ended();
    try {
      const auto progressed = [&] {
        proxy_of(*context_).progress();
        return have_ended();
      };
      wait_until(longest, context_->yields(), progressed,
                 [] { return "puts and gets to end before their Window does"; });
      return true;
    } catch (const Error& error) {
      context_->mark_broken();
      context_->log(error.what());
      return false;
    }
  }

  void map_peers() {
    const auto name = context_->name_memory(state_->local.data, state_->bytes, state_->memory);
    const std::vector<SharedRange> ranges =
        context_->gather(name.value_or(SharedRange{}), window_construction);
    const std::string& refusal = context_->mapping_refusal(state_->memory);
    state_->mapped.resize(context_->size());
    for (int rank = 0; rank < context_->size(); ++rank) {
      state_->staged.push_back(state_->memory == MemoryKind::device &&
                               !context_->waiting_kernels_refusal(rank).empty());
    }
    context_->all_or_none(window_construction, [&] {
      for (int rank = 0; rank < context_->size(); ++rank) {
        if (rank == context_->rank()) {
          state_->mapped[rank] = {state_->local.data, state_->local.owner};
        } else if (refusal.empty() && context_->machine().same_host(context_->rank(), rank)) {
          state_->mapped[rank] = context_->mappings().map(ranges[rank]);
        }
      }
    });
  }

  std::shared_ptr<ContextState> context_;
  WindowTable& table_;
  std::shared_ptr<WindowState> state_ = std::make_shared<WindowState>();
};

}  // namespace detail

Window::Window(const detail::Executor& executor, const Context& context, std::size_t bytes)
    : owner_(
          detail::make_on_device<detail::WindowOwner>(context.device(), context.state(), executor, bytes)) {}
Window::Window(Window&&) noexcept = default;
Window& Window::operator=(Window&&) noexcept = default;
Window::~Window() = default;

std::byte* Window::data() const {
  return owner_->state().local.data;
}
std::size_t Window::bytes() const {
  return owner_->state().bytes;
}
bool Window::maps(int rank) const {
  return owner_->state().mapped.at(rank).data != nullptr;
}
const detail::WindowState& Window::state() const {
  return owner_->state();
}

}  // namespace selvage
