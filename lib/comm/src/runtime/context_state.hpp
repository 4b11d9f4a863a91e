#pragma once

#include "memory/arena.hpp"
#include "public_call.hpp"
#include "roll_call.hpp"
#include "tag_pool.hpp"

#include <selvage/comm/context_options.hpp>
#include <selvage/comm/detail/device_scope.hpp>
#include <selvage/comm/detail/signal.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/machine.hpp>

#include <mpi.h>

#include <any>
#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace selvage::detail {

constexpr std::chrono::seconds parting_time{1};  ///< the longest wait of destructors for other ranks

class Executor;
struct Field;

class ContextState;

/// The message tags of one object. Its destructor gives them back, unless messages may still be underway.
class Tags {
 public:
  Tags() = default;
  Tags(ContextState& context, int first) : context_(&context), first_(first) {}
  Tags(Tags&& other) noexcept : context_(std::exchange(other.context_, nullptr)), first_(other.first_) {}
  Tags& operator=(Tags&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(first_, other.first_);
    return *this;
  }
  ~Tags();
  [[nodiscard]] int first() const { return first_; }
  [[nodiscard]] bool are_leased() const { return context_ != nullptr; }

 private:
  ContextState* context_ = nullptr;
  int first_ = 0;
};

/// The state that all copies of a Context share.
class ContextState {
 public:
  /// Collective over `comm`.
  /// \param device  number of its GPU, or no_device
  /// \param space   the execution space instance that says so; empty for Kokkos's own GPU
  ContextState(MPI_Comm comm, int device, std::any space, ContextOptions options);
  ContextState(const ContextState&) = delete;
  ContextState& operator=(const ContextState&) = delete;
  ~ContextState();

  /// For the library's own messages.
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  /// A duplicate with the same ranks for the user's own messages. The library sends nothing on it, so tags can't collide.
  [[nodiscard]] MPI_Comm users_comm() const { return users_comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] const topo::Machine& machine() const { return machine_; }
  [[nodiscard]] int device() const { return device_; }
  /// Opened by each public call on an object of this Context. \throws what PublicCall says
  [[nodiscard]] PublicCall public_call() { return {calling_, device_, rank_}; }
  [[nodiscard]] const std::any& space() const { return space_; }
  [[nodiscard]] const ContextOptions& options() const { return options_; }
  /// Why services have no threads of their own; empty where they may.
  [[nodiscard]] const std::string& threads_refusal() const { return threads_refusal_; }
  /// A line for the user that is no error.
  void log(std::string_view message) const;
  /// \throws Error{usage} for an execution space instance, or a View, of another GPU than this Context's
  void require_own_device(const Executor& executor) const;
  void require_own_device(const Field& field) const;
  /// The limit for waits of objects that are complete.
  [[nodiscard]] std::chrono::milliseconds timeout() const { return timeout_; }
  [[nodiscard]] std::chrono::milliseconds setup_timeout() const { return setup_timeout_; }
  /// The limit for waits in which ranks plan something together: setup_timeout(), or timeout() while a Replanning exists.
  [[nodiscard]] std::chrono::milliseconds planning_timeout() const { return planning_timeout_; }
  /// Whether a waiting rank must give its core away.
  [[nodiscard]] bool yields() const { return yields_; }
  [[nodiscard]] Arena& arena() { return *arena_; }
  /// For blocks that may outlive the Context.
  [[nodiscard]] const std::shared_ptr<Arena>& shared_arena() const { return arena_; }
  [[nodiscard]] PeerMappings& mappings() { return mappings_; }
  /// Why ranks of one physical host can't map each other's memory of a kind; empty when they can.
  [[nodiscard]] const std::string& mapping_refusal(MemoryKind memory) const {
    return memory == MemoryKind::host ? mapping_refusal_ : device_mapping_refusal_;
  }
  /// Why MPI can't be given pointers to GPU memory; empty when it has taken some.
  [[nodiscard]] const std::string& gpu_aware_refusal() const { return gpu_aware_refusal_; }
  /// Why MPI can't be given GPU memory to or from a rank while kernels wait for that; empty when it can.
  [[nodiscard]] std::string waiting_kernels_refusal(int rank) const;
  /// The name by which a peer can map these bytes; nothing if they don't lie in memory that peers can map.
  [[nodiscard]] std::optional<SharedRange> name_memory(const void* data, std::size_t bytes,
                                                       MemoryKind memory) const;

  /// Requests, their ranks, and the memory that MPI reads and writes for them. If some are not complete when this is destroyed, the
  /// memory is never freed, because the message of a late rank may still arrive.
  struct Messages {
    std::vector<MPI_Request> requests;
    std::vector<int> ranks;
    std::vector<std::shared_ptr<void>> memory;
    Messages() = default;
    Messages(const Messages&) = delete;
    Messages& operator=(const Messages&) = delete;
    ~Messages();
    [[nodiscard]] bool are_done() const;
    MPI_Request* add(int rank);
  };
  /// Waits for all. \param purpose  completes "waited N ms for rank 3 ..."
  /// \throws Error{timeout} that names the ranks, Error{mpi}
  void wait_messages(Messages& messages, std::string_view purpose);

  /// Call it in waits in which ranks plan something together: it tells ranks whose wait has timed out that this rank still waits.
  void answer_roll_call();
  /// The ranks that don't wait in the same operation, after a wait of this rank has timed out.
  [[nodiscard]] std::vector<int> silent_ranks();

  /// Collective: every rank says whether it failed; when any did, all throw the error of the lowest rank
  /// that did, and where not all did, its number.
  /// \param operation  names the collective in a timeout; ranks in different ones throw Error{usage} that names both
  /// \return the largest `number` of all ranks
  std::int64_t agree(const std::optional<Error>& failure, std::string_view operation,
                     std::int64_t number = 0);
  /// Runs `step`, then calls agree() with its error, if any.
  void all_or_none(std::string_view operation, const std::function<void()>& step);
  /// The same, with the number that `step` returns.
  [[nodiscard]] std::int64_t largest_or_none(std::string_view operation,
                                             const std::function<std::int64_t()>& step);

  /// A barrier for destructors: waits for the other ranks for at most a second, and never
  /// throws. Does nothing while an exception unwinds or after MPI_Finalize.
  void try_barrier() noexcept;
  /// The same with another limit. Calls `progress` while it waits.
  void try_barrier(std::chrono::milliseconds longest, const std::function<void()>& progress) noexcept;
  /// Runs `make`, which maps memory of other ranks. Where it throws, and the memory is a GPU's, the ranks wait for each other as destructors
  /// do, so that nobody returns and frees what others still map. `make` leaves nothing mapped when it throws.
  void make_mapping(bool on_host, const std::function<void()>& make);
  /// \return an owner of GPU memory that other ranks map. Freeing it while they do is undefined in CUDA, so it is freed in a
  ///         try_barrier() that follows the end of this owner and to which all ranks came, or with the Context.
  [[nodiscard]] std::shared_ptr<void> freed_after_barrier(std::shared_ptr<void> memory);
  /// Reports that messages between this rank and others may remain underway. No rank then ever frees the communicators.
  void mark_broken() noexcept { is_broken_ = true; }

  /// Collective, with bounded waiting: the smallest and largest of `values`, and a rank that holds each.
  /// \throws as agree(), where ranks are in other calls or pass another number of values; so do the next two
  struct Extremes {
    int smallest, smallest_rank, largest, largest_rank;
  };
  [[nodiscard]] std::vector<Extremes> extremes(const std::vector<int>& values, std::string_view operation);

  /// Collective, with bounded waiting: what every rank passes, by rank.
  template <class T>
  [[nodiscard]] std::vector<T> gather(const T& mine, std::string_view operation);

  /// Collective, with bounded waiting: rank 0's text.
  [[nodiscard]] std::string broadcast(const std::string& text, std::string_view operation);

  /// `count` message tags in a row that nobody else on this communicator uses. Collective: all ranks ask in the same order,
  /// and once MPI has no new ones, they agree on those that all of them have given back.
  /// \throws Error{unsupported}, on all ranks, when there are none: a tag used twice at a time could bring one object the
  ///         message of another
  [[nodiscard]] Tags lease_tags(int count);
  /// The first of as many, for as long as this lives. \throws as lease_tags()
  [[nodiscard]] int take_tags(int count);

  /// An object that several objects of the Context share, by its name; null if it does not exist yet.
  template <class T>
  [[nodiscard]] T* find_kept(std::string_view name) const;
  /// The same; the first call makes it. It is destroyed with the Context, before the communicators and before those that were made
  /// earlier. \param make  returns a std::shared_ptr<T>
  template <class T, class Make>
  T& kept(std::string_view name, const Make& make);
  /// Of messages to the services of other ranks.
  [[nodiscard]] int service_tag() const { return service_tag_; }

 private:
  friend class Replanning;
  friend class Tags;

  [[nodiscard]] MPI_Comm duplicate(MPI_Comm comm);
  /// Collective: checks the settings, then detects and probes the machine.
  void detect_and_probe();
  void free_communicators() noexcept;
  void probe_mappings();
  void wait_request(MPI_Request& request, const std::function<std::string()>& what);
  [[nodiscard]] bool completes_within(std::chrono::milliseconds longest, MPI_Request& request,
                                      const std::function<void()>& progress) noexcept;
  [[nodiscard]] bool all_part_in_order() noexcept;
  template <class Buffers>
  void wait_collective(MPI_Request& request, std::unique_ptr<Buffers>& buffers, std::string_view operation);
  std::int64_t vote(const std::optional<Error>& failure, std::string_view operation,
                    std::string_view exchanged, std::int64_t own = 0);
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(const T& mine, std::string_view operation);
  [[noreturn]] void throw_different_calls(std::string_view call, std::string_view operation);
  [[noreturn]] void throw_failure_of(int failed, bool have_all_failed, const std::optional<Error>& own,
                                     std::string_view operation);
  void probe_device_mappings();
  void probe_gpu_aware_mpi();
  [[nodiscard]] std::string first_refusal(const std::string& mine);
  void recycle_tags();
  [[nodiscard]] bool has_message(int first, int count) const;
  void enter_collective();
  [[nodiscard]] std::string describe_missing(std::string_view operation);

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm users_comm_ = MPI_COMM_NULL;
  MPI_Comm parting_comm_ = MPI_COMM_NULL;  ///< of try_barrier() alone
  std::atomic<bool> is_broken_ = false;    ///< set by threads of the proxy too
  CallingThread calling_ = nullptr;
  int rank_ = 0;
  int size_ = 0;
  std::optional<TagPool> tags_;
  std::optional<RollCall> roll_call_;
  int service_tag_ = 0;
  int device_ = no_device;
  std::any space_;
  ContextOptions options_;
  std::string threads_refusal_;
  std::chrono::milliseconds timeout_;
  std::chrono::milliseconds setup_timeout_;
  std::chrono::milliseconds planning_timeout_;
  topo::Machine machine_;
  bool yields_ = true;
  std::shared_ptr<Arena> arena_ = std::make_shared<Arena>();
  PeerMappings mappings_;
  std::string mapping_refusal_;
  std::string device_mapping_refusal_;
  std::string gpu_aware_refusal_;
  bool mpi_may_wait_for_kernels_ = true;

  /// How many collective operations each rank of this physical host has entered. Written by its rank, read by
  /// others only to name who is late; publishes nothing else.
  Flag* entered_ = nullptr;
  struct PeerEntered {
    int rank;
    PeerMappings::Mapped flag;
  };
  std::vector<PeerEntered> peers_entered_;
  std::vector<std::pair<std::string, std::shared_ptr<void>>> kept_;
  std::list<std::shared_ptr<void>>
      parted_;  ///< what freed_after_barrier() gave, and nobody here uses any more
};

template <class T>
T* ContextState::find_kept(std::string_view name) const {
  for (const auto& [known, object] : kept_) {
    if (known == name) return static_cast<T*>(object.get());
  }
  return nullptr;
}

template <class T, class Make>
T& ContextState::kept(std::string_view name, const Make& make) {
  if (T* found = find_kept<T>(name)) return *found;
  const std::shared_ptr<T> made = make();
  kept_.emplace_back(name, made);
  return *made;
}

/// While it exists, planning has the time limit of steps. For objects that a running program plans again between steps, such as lists: one
/// rank may wait there for a late rank while another waits for it in a step, and both should time out with a message.
class Replanning {
 public:
  explicit Replanning(ContextState& context) : context_(context), before_(context.planning_timeout_) {
    context_.planning_timeout_ = context_.timeout_;
  }
  Replanning(const Replanning&) = delete;
  Replanning& operator=(const Replanning&) = delete;
  ~Replanning() { context_.planning_timeout_ = before_; }

 private:
  ContextState& context_;
  std::chrono::milliseconds before_;
};

}  // namespace selvage::detail
