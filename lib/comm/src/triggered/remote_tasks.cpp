#include "gpu/make_on_device.hpp"
#include "proxy/command_queue.hpp"
#include "task_runner.hpp"

#include <selvage/comm/remote_tasks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace selvage {
namespace detail {
namespace {

constexpr const char* tasks_construction = "the construction of RemoteTasks";
constexpr std::uint64_t commands_per_ring = 64;
constexpr std::chrono::seconds longest_parting{1};

CommandRings::Sizes ring_sizes(std::uint64_t ranks) {
  return {.rings = static_cast<int>(2 * ranks), .capacity = commands_per_ring};
}

}  // namespace

/// The members of RemoteTasks other than the window.
class TaskOwner {
 public:
  TaskOwner(std::shared_ptr<ContextState> context, const Executor& executor, const WindowState& window,
            const TaskLayout& layout)
      : context_(std::move(context)),
        on_host_(executor.runs_on_host()),
        fault_(executor.allocate_staging(TaskLayout::line)),
        rings_(*context_, executor, ring_sizes(layout.ranks), &window),
        runner_(*context_, window, layout),
        service_(proxy_of(*context_).has_threads(), context_->device()) {
    port_.window = window.local.data;
    port_.fault = reinterpret_cast<std::uint64_t*>(fault_.data);
    *port_.fault = 0;
    port_.layout = layout;
    port_.rank = context_->rank();
    port_.commands = rings_.port();
  }
  TaskOwner(const TaskOwner&) = delete;
  TaskOwner& operator=(const TaskOwner&) = delete;
  /// The last acknowledgements arrive after their calls.
  ~TaskOwner() {
    context_->try_barrier();
    if (is_open_) service_.remove(runner_);
    const auto end = std::chrono::steady_clock::now() + longest_parting;
    while (!(rings_.is_idle() && runner_.is_idle()) && std::chrono::steady_clock::now() < end) {
      proxy_of(*context_).progress();
      runner_.poll_sender();
    }
  }

  [[nodiscard]] int device() const { return context_->device(); }
  [[nodiscard]] int ranks() const { return context_->size(); }
  [[nodiscard]] const TaskPort& port() const { return port_; }
  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] bool has_threads() const { return rings_.has_threads(); }

  void add(std::uint32_t index, RemoteTasks::Function function) {
    if (is_open_) throw Error(ErrorKind::usage, "a remote task is added after open()");
    if (!on_host_) {
      throw Error(
          ErrorKind::unsupported,
          "a function as a remote task needs a host space: kernels take payloads in GPU memory, see serve()");
    }
    runner_.add(index, std::move(function));
  }
  void open() {
    context_->all_or_none("RemoteTasks::open", [&] {
      if (is_open_) throw Error(ErrorKind::usage, "RemoteTasks are opened twice");
      if (!on_host_)
        throw Error(ErrorKind::unsupported, "RemoteTasks of a GPU are served by kernels, not opened");
    });
    is_open_ = true;
    service_.add(runner_);
  }
  void progress() {
    rings_.progress();
    service_.progress();
  }
  void check() {
    service_.check();
    rings_.check();
    throw_fault(acquire_word(*port_.fault));
  }

 private:
  void throw_fault(std::uint64_t word) const {
    const auto kind = static_cast<TaskFault>(word >> 56);
    const std::uint64_t rank = word >> 32 & 0xffffffU;
    const std::uint64_t detail = word & 0xffffffffU;
    if (kind == TaskFault::no_such_task) {
      throw Error(ErrorKind::usage, fmt::format("rank {} called task {}, which rank {} doesn't serve", rank,
                                                detail, context_->rank()));
    }
    if (kind == TaskFault::none) return;
    throw Error(
        ErrorKind::timeout,
        fmt::format("remote tasks waited {} ms for rank {} ({} of call {})", context_->timeout().count(),
                    rank, kind == TaskFault::late_target ? "the end" : "the arrival", detail));
  }

  std::shared_ptr<ContextState> context_;
  bool on_host_;
  bool is_open_ = false;
  Buffer fault_;  ///< written by kernels
  CommandRings rings_;
  TaskRunner runner_;
  TaskPort port_;
  Service service_;  ///< ends before what it polls
};

}  // namespace detail

detail::TaskLayout RemoteTasks::make_layout(const Context& context, const Options& options) {
  constexpr std::size_t most = std::numeric_limits<int>::max() / 2;
  context.state()->all_or_none(detail::tasks_construction, [&] {
    if (options.slots >= 1 && options.payload_bytes <= most) return;
    throw Error(ErrorKind::usage,
                fmt::format("RemoteTasks of {} slots and payloads of {} bytes: at least 1, at most {}",
                            options.slots, options.payload_bytes, most));
  });
  const auto found = context.state()->extremes({options.slots, static_cast<int>(options.payload_bytes)},
                                               detail::tasks_construction);
  constexpr const char* names[] = {"slots", "payload_bytes"};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& [smallest, smallest_rank, largest, largest_rank] = found[i];
    if (smallest == largest) continue;
    throw Error(ErrorKind::usage,
                fmt::format("RemoteTasks need the same {} on all ranks: rank {} has {}, rank {} has {}",
                            names[i], smallest_rank, smallest, largest_rank, largest));
  }
  return {.ranks = static_cast<std::uint64_t>(context.size()),
          .slots = static_cast<std::uint64_t>(options.slots),
          .payload_bytes = options.payload_bytes};
}

std::shared_ptr<detail::TaskOwner> RemoteTasks::make_owner(const detail::Executor& executor,
                                                           const Context& context, const Window& window,
                                                           const detail::TaskLayout& layout) {
  return detail::make_on_device<detail::TaskOwner>(context.device(), context.state(), executor,
                                                   window.state(), layout);
}

RemoteTasks::RemoteTasks(RemoteTasks&&) noexcept = default;
/// The service that polls the window is destroyed before the window.
RemoteTasks& RemoteTasks::operator=(RemoteTasks&& other) noexcept {
  owner_ = std::move(other.owner_);
  window_ = std::move(other.window_);
  layout_ = other.layout_;
  return *this;
}
RemoteTasks::~RemoteTasks() = default;

void RemoteTasks::add(std::uint32_t index, Function function) {
  owner_->add(index, std::move(function));
}
void RemoteTasks::open() {
  owner_->open();
}
TaskPort RemoteTasks::device() const {
  return owner_->port();
}
bool RemoteTasks::has_threads() const {
  return owner_->has_threads();
}
void RemoteTasks::progress() {
  const detail::DeviceScope scope(owner_->device());
  owner_->progress();
}
void RemoteTasks::check() {
  const detail::DeviceScope scope(owner_->device());
  owner_->check();
}

void RemoteTasks::require_rank(int rank) const {
  if (rank >= 0 && rank < owner_->ranks()) return;
  throw Error(ErrorKind::usage, fmt::format("a remote task of rank {} of {}", rank, owner_->ranks()));
}
void RemoteTasks::require_possible(int target, const TaskPort::Call& task, std::uint64_t bytes,
                                   bool is_contiguous) const {
  require_rank(target);
  if (task.index >= indices)
    throw Error(ErrorKind::usage, fmt::format("remote task {}: indices end at {}", task.index, indices - 1));
  if (bytes > layout_.payload_bytes || !is_contiguous) {
    throw Error(ErrorKind::usage,
                fmt::format("a remote task's payload of {} bytes{}: {} at most, without gaps", bytes,
                            is_contiguous ? "" : " with gaps", layout_.payload_bytes));
  }
}
void RemoteTasks::require_served_by_kernels(int source) const {
  require_rank(source);
  if (owner_->is_open())
    throw Error(ErrorKind::usage, "remote tasks that are open() are not served by kernels too");
}

}  // namespace selvage
