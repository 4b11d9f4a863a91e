#pragma once

#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/kokkos_executor.hpp>
#include <selvage/comm/task_port.hpp>
#include <selvage/comm/trigger.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace selvage {

namespace detail {
class TaskOwner;
}

/// XTQ (LeBeane, ch. 4): a message carries a task's index, arguments and a payload, and the task runs on
/// the rank that receives the message, without a call there. All ranks register the same tasks under the same indices; a task
/// captures the data it works on. An object has one of two forms of target:
///
/// - functions, of host spaces: add() each, then open(). A thread of the library's own runs them as they come.
/// - kernels, of any space: serve() enqueues on an instance that waits for the next call of a rank, runs it, and says
///   so: no host code lies between the message and the task, and a captured graph can be replayed.
///
/// Calls of one rank to another run in order, one after the other; those of several ranks in any order.
class RemoteTasks {
 public:
  static constexpr std::uint32_t indices = 64;
  struct Options {
    std::size_t payload_bytes = 4096;  ///< of a call, at most
    int slots = 4;                     ///< calls underway from one rank to another; more have to wait
  };
  using Call = TaskPort::Call;
  using Message = TaskPort::Message;
  using Function = std::function<void(const Message&)>;

  /// Collective. \param space  whose kernels call, and where payloads land
  /// \throws Error{usage} on every rank for sizes that can't be, or that differ; as Window and CommandQueue
  template <class Space>
  requires Kokkos::is_execution_space_v<Space> RemoteTasks(const Space& space, const Context& context,
                                                           const Options& options)
      : layout_(make_layout(context, options)),
        window_(space, context, layout_.bytes()),
        owner_(make_owner(detail::KokkosExecutor<Space>(space), context, window_, layout_)) {}
  template <class Space>
  requires Kokkos::is_execution_space_v<Space> RemoteTasks(const Space& space, const Context& context)
      : RemoteTasks(space, context, Options{}) {}
  RemoteTasks(RemoteTasks&&) noexcept;
  RemoteTasks& operator=(RemoteTasks&&) noexcept;
  /// Collective, and waits a second at most: no calls may be underway.
  ~RemoteTasks();

  /// Registers a function, before open(). It runs on a thread of the library's, and must not wait for other ranks.
  /// \throws Error{usage} for an index that is taken or too large, or after open(); Error{unsupported} for
  ///         GPU spaces, whose payloads a host can't read
  void add(std::uint32_t index, Function function);
  /// Collective, after all functions are registered: from now on calls may arrive.
  void open();

  /// Enqueues a call. The payload is a contiguous View of the space's memory, and may change once the
  /// call has run on the instance. Waits, on the instance, only while all slots to that rank are in use.
  /// \throws Error{usage} for a rank or an index that can't be, and for a payload that is too long or has gaps
  template <class Space, class View>
  void call(const Space& space, int target, const Call& task, const View& payload) {
    const std::uint64_t bytes = payload.span() * sizeof(typename View::value_type);
    require_possible(target, task, bytes, payload.span_is_contiguous());
    Kokkos::parallel_for("comm::call_task", Kokkos::TeamPolicy<Space>(space, 1, Kokkos::AUTO),
                         detail::CallTask{device(), target, task, payload.data(), bytes});
  }
  template <class Space>
  void call(const Space& space, int target, const Call& task) {
    call(space, target, task, Kokkos::View<const std::byte*, typename Space::memory_space>());
  }
  /// Enqueues a wait until all that this rank has called at `target` has run there.
  template <class Space>
  void wait(const Space& space, int target) const {
    require_rank(target);
    Kokkos::parallel_for("comm::await_tasks", Kokkos::TeamPolicy<Space>(space, 1, Kokkos::AUTO),
                         detail::AwaitTasks{device(), target});
  }
  /// Enqueues the next call of `source`: a league runs the task of the index that the call names, `tasks` being
  /// numbered from 0, each called as task(team, message) by all threads of all teams. One instance at a time per source.
  /// \throws Error{usage} for a rank that can't be, and after open()
  template <class Space, class... Tasks>
  void serve(const Space& space, int source, int league_size, const Tasks&... tasks) const {
    static_assert(sizeof...(Tasks) <= indices);
    require_served_by_kernels(source);
    const detail::NextTask next{device(), source, device().commands.timeout_ns};
    Kokkos::parallel_for("comm::await_call", Kokkos::RangePolicy<Space>(space, 0, 1),
                         detail::AwaitCall{next});
    using List = decltype(detail::make_task_list(tasks...));
    Kokkos::parallel_for("comm::run_task", Kokkos::TeamPolicy<Space>(space, league_size, Kokkos::AUTO),
                         detail::RunTask<List>{next, detail::make_task_list(tasks...)});
    Kokkos::parallel_for("comm::finish_task", Kokkos::TeamPolicy<Space>(space, 1, Kokkos::AUTO),
                         detail::FinishTask{next});
  }

  /// For calls and waits from inside a kernel.
  [[nodiscard]] TaskPort device() const;
  /// False: progress() does what threads would, see CommandQueue.
  [[nodiscard]] bool has_threads() const;
  void progress();
  /// Throws what tasks and the proxy have met since the last call, and what a kernel has, from then on.
  /// \throws what a function threw, as it was; Error{usage} for an index that nobody has registered; Error{timeout} that
  ///         names the rank
  void check();

 private:
  static detail::TaskLayout make_layout(const Context& context, const Options& options);
  static std::shared_ptr<detail::TaskOwner> make_owner(const detail::Executor& executor,
                                                       const Context& context, const Window& window,
                                                       const detail::TaskLayout& layout);
  void require_rank(int rank) const;
  void require_possible(int target, const Call& task, std::uint64_t bytes, bool is_contiguous) const;
  void require_served_by_kernels(int source) const;

  detail::TaskLayout layout_;
  Window window_;
  std::shared_ptr<detail::TaskOwner> owner_;  // shared only so that its type may stay incomplete here
};

}  // namespace selvage
