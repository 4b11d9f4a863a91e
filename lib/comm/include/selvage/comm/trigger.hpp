#pragma once

#include <selvage/comm/command_port.hpp>
#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/kokkos_executor.hpp>
#include <selvage/comm/detail/memory_kind.hpp>
#include <selvage/comm/options.hpp>
#include <selvage/comm/trigger_port.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace selvage {

namespace detail {
struct WindowState;
class WindowOwner;
struct TriggerOwner;
struct CommandOwner;
}  // namespace detail

/// Memory of the same size on every rank of a Context, which kernels of other ranks put to and get from: like one allocation
/// of OpenSHMEM's symmetric heap. Zeroed. 64-bit words of it may serve as arrival counters: one rank puts each of them, with
/// values that only grow.
class Window {
 public:
  /// Collective. \param space  the memory is of its memory space
  /// \throws Error{usage} when sizes differ between ranks; Error{unsupported} for GPU memory that ranks can neither map nor
  ///         send through MPI
  template <class Space>
  requires Kokkos::is_execution_space_v<Space> Window(const Space& space, const Context& context,
                                                      std::size_t bytes)
      : Window(detail::KokkosExecutor<Space>(space), context, bytes) {}
  Window(Window&&) noexcept;
  Window& operator=(Window&&) noexcept;
  /// Collective; kernels that use the Window must have ended. Completes all puts and gets of all ranks first, even if nobody
  /// has called quiet() and if the CommandQueue or Triggers that started them are gone. Waits the context's timeout() at most
  /// for this rank's transfers, and once more for the other ranks to come here. Transfers that aren't complete by then are
  /// abandoned with a message to ContextOptions::log, and their memory isn't freed.
  ~Window();

  /// This rank's part.
  [[nodiscard]] std::byte* data() const;
  [[nodiscard]] std::size_t bytes() const;
  /// Whether transfers to that rank are copies, and not messages.
  [[nodiscard]] bool maps(int rank) const;

  /// Below the public interface.
  [[nodiscard]] const detail::WindowState& state() const;

 private:
  Window(const detail::Executor& executor, const Context& context, std::size_t bytes);
  std::shared_ptr<detail::WindowOwner> owner_;  // shared only so that its type may stay incomplete here
};

/// GPU-TN (LeBeane, ch. 6): operations are registered by the host and fired by running kernels, through
/// device(), by one store each. A proxy thread counts triggers and starts each operation that has reached its
/// threshold. An operation may be registered before or after its first triggers are fired.
///
/// Where MPI was not started with MPI_THREAD_MULTIPLE there is no thread: call progress() until done.
class Triggers {
 public:
  using Tag = TriggerPort::Tag;

  /// An operation that waits for triggers.
  struct Transfer {
    enum class Kind { put, get };

    Kind kind = Kind::put;
    const Window* window = nullptr;  ///< at the target
    int target = 0;                  ///< rank; the kernel may choose another (TriggerPort::fire_target)
    /// The memory at this rank, in the window's memory space; must not change between firing and completion.
    void* local = nullptr;
    std::uint64_t bytes = 0;       ///< at most, where the kernel supplies the length
    std::uint64_t unit_bytes = 1;  ///< what TriggerPort::fire_length counts in
    std::uint64_t offset = 0;      ///< bytes into the target's window
    std::optional<std::uint64_t> arrival =
        {};  ///< put: offset of the 64-bit word that then becomes the epoch
  };

  struct Options {
    std::uint32_t ids = 256;            ///< tags have ids below this
    std::uint64_t ring_entries = 4096;  ///< triggers underway; a power of two
  };
  /// Counts that are zero at the end of a correct program; the destructor reports others to ContextOptions::log.
  struct Leftovers {
    std::uint64_t surplus = 0;     ///< triggers for tags that had fired
    std::uint64_t orphaned = 0;    ///< triggers for tags that were never registered
    std::uint64_t unfinished = 0;  ///< tags with some triggers, but fewer than their threshold
  };

  /// Collective. \param space  whose kernels will fire
  template <class Space>
  requires Kokkos::is_execution_space_v<Space> Triggers(const Space& space, const Context& context,
                                                        const Options& options)
      : Triggers(detail::KokkosExecutor<Space>(space), context, options) {}
  template <class Space>
  requires Kokkos::is_execution_space_v<Space> Triggers(const Space& space, const Context& context)
      : Triggers(space, context, Options{}) {}
  Triggers(Triggers&&) noexcept;
  Triggers& operator=(Triggers&&) noexcept;
  /// Not collective, and doesn't wait: operations that have fired are completed, as by CommandQueue's destructor.
  ~Triggers();

  /// Registers one tag, before or after it is fired; not collective.
  /// \param threshold  how many triggers fire it; 0 fires at once
  /// \throws Error{usage} for an id out of range, and for a tag that is in use
  void add(Tag tag, const Transfer& transfer, std::uint64_t threshold);
  /// Registers an id for all epochs: it fires once in each.
  /// \throws as add()
  void add_for_all_epochs(std::uint32_t id, const Transfer& transfer, std::uint64_t threshold);

  /// The handle with which kernels fire, as long as this lives.
  [[nodiscard]] TriggerPort device() const;
  /// False: the caller's progress() does what a proxy thread would.
  [[nodiscard]] bool has_thread() const;
  /// Counts new triggers and advances the operations that have fired; never waits. Does nothing where a thread does this.
  void progress();
  /// Throws the errors that the proxy's thread has met since the last call.
  /// \throws Error{usage}, Error{mpi}, Error{cuda}; Error{timeout} when kernels found the ring full for too long: it names
  ///         the rank, the ring and the first slot, and how many triggers were lost. The ring goes on
  ///         after that. A ring that has lost 1024 triggers is closed: it refuses triggers that find it full, and every check()
  ///         says so
  void check();
  /// Counts the triggers fired so far. Call it while no kernel fires.
  [[nodiscard]] Leftovers leftovers();

 private:
  Triggers(const detail::Executor& executor, const Context& context, const Options& options);
  std::shared_ptr<detail::TriggerOwner> owner_;  // shared only so that its type may stay incomplete here
};

/// ComP-Net (LeBeane, ch. 5): kernels write whole descriptors of one-sided operations on a Window into rings, one
/// per team; service threads issue them.
///
/// Where MPI was not started with MPI_THREAD_MULTIPLE there are no threads: progress() serves the rings, so
/// kernels of host spaces can't use calls that wait there.
class CommandQueue {
 public:
  struct Options {
    int rings = 1;             ///< as many as teams use it at a time
    std::uint64_t slots = 64;  ///< per ring, a power of two
    int service_threads = 1;   ///< rings are dealt out to them in turn
    /// Where the slots lie that kernels write descriptors to (LeBeane, 5.3.1). False: in host memory; kernels store across the bus, and
    /// the service thread polls its own memory. True: in their GPU's memory, from which the service thread fetches them by copies on a
    /// stream of its own; for kernels of host spaces that is the same memory. Else SELVAGE_QUEUE_PLACEMENT=host|device, else host.
    std::optional<bool> slots_on_device = {};
  };

  /// Collective. \param space  whose kernels will use it
  /// \throws Error{usage} for sizes that can't be, Error{input} for a bad SELVAGE_QUEUE_PLACEMENT
  template <class Space>
  requires Kokkos::is_execution_space_v<Space> CommandQueue(const Space& space, const Context& context,
                                                            const Window& window, const Options& options)
      : CommandQueue(detail::KokkosExecutor<Space>(space), context, window, options) {}
  CommandQueue(CommandQueue&&) noexcept;
  CommandQueue& operator=(CommandQueue&&) noexcept;
  /// Not collective, and doesn't wait. What kernels have put arrives before the Window is destroyed; the memory that they put
  /// from must stay valid until then. A get that is still underway is abandoned.
  ~CommandQueue();

  /// The handle with which kernels put and get, as long as this lives.
  [[nodiscard]] CommandPort device() const;
  /// False: the caller's progress() does what service threads would.
  [[nodiscard]] bool has_threads() const;
  /// As Triggers::progress.
  void progress();
  /// As Triggers::check.
  void check();

 private:
  CommandQueue(const detail::Executor& executor, const Context& context, const Window& window,
               const Options& options);
  std::shared_ptr<detail::CommandOwner> owner_;  // shared only so that its type may stay incomplete here
};

}  // namespace selvage
