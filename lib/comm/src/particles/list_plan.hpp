#pragma once

#include "kernel_lists.hpp"
#include "list_choice.hpp"
#include "list_path.hpp"
#include "list_port_plan.hpp"
#include "runtime/context_state.hpp"
#include "runtime/first_error.hpp"
#include "sparse_exchange.hpp"

#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/list_mover.hpp>
#include <selvage/comm/list_halo.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::detail {

class ContextState;

/// A ListHalo or Migration without the types of its Views: which ranks send how many particles to which, and how.
///
/// Links to other ranks stay, with their mappings, flags and blocks, when lists change.
class ListPlan {
 public:
  /// Where received particles are stored: after the owned ones, by rank; or from the front, those of this rank first.
  enum class Purpose { halo, migration };

  /// Collective. \throws what ListHalo's constructor says
  ListPlan(std::shared_ptr<ContextState> context, Executor& executor, const ListHalo::Options& options,
           Purpose purpose);
  ListPlan(const ListPlan&) = delete;
  ListPlan& operator=(const ListPlan&) = delete;
  ~ListPlan();

  /// Sets new lists. Collective among the named neighbours, or over all ranks if none are named.
  void rebuild(Executor& executor, const ListSource& source, std::int64_t owned);
  void start(Executor& executor, ListMover& mover, ListOperation operation);
  void finish(Executor& executor, ListMover& mover);
  /// Starts and finishes an operation.
  void exchange(Executor& executor, ListMover& mover, ListOperation operation);
  /// Whether kernels of all ranks reach each other's memory, so that open_port() is possible; the same on all ranks.
  [[nodiscard]] bool may_open_port() const;
  /// Opens a port for the present lists. Collective among ranks that share ghosts. \throws what ListHalo::device() says
  [[nodiscard]] ListPortTable open_port(Executor& executor, std::size_t element_bytes);
  /// Throws the errors of kernels that signal and wait. Call it after they have ended.
  void check();

  /// Collective: checks that no particle is lost or doubled. \throws Error{verification} on all ranks
  void require_conserved() const;

  [[nodiscard]] PublicCall public_call() const { return context_->public_call(); }
  [[nodiscard]] ListIndex& index() { return index_; }
  [[nodiscard]] const ListIndex& index() const { return index_; }
  [[nodiscard]] std::string explain() const;

 private:
  /// Entries for each rank, in the order of ranks.
  struct Grouped {
    std::vector<int> ranks;
    std::vector<std::int64_t> begins;  ///< one more
  };

  [[nodiscard]] const char* name() const { return purpose_ == Purpose::halo ? "ListHalo" : "Migration"; }
  void require_same_everywhere(const Executor& executor, bool has_neighbours);
  void name_neighbours(Executor& executor, std::vector<int> neighbours);
  void require_mutual(const std::vector<int>& neighbours);
  [[nodiscard]] ListLink& link_of(int rank);
  void connect(Executor& executor, const std::vector<int>& ranks);
  [[nodiscard]] Path choose_path(int rank, bool on_host) const;
  [[nodiscard]] ListPath& path_for(Transport transport, Executor& executor);
  [[nodiscard]] bool may_use_kernels() const;
  /// Whether the proxy carries everything that this rank sends.
  [[nodiscard]] bool is_queued() const { return initiation_.choice == Initiation::queue; }
  /// Whether kernels carry out whole operations, without the host.
  [[nodiscard]] bool runs_in_kernels() const { return kernels_ != nullptr && paths_.size() == 1; }

  [[nodiscard]] Grouped group(Executor& executor, const ListSource& source, std::int64_t owned);
  void require_countable(const ListSource& source, std::int64_t owned) const;
  void require_valid(const ListSource& source, std::int64_t owned, int first_invalid) const;
  void find_bins(Executor& executor, const ListSource& source, std::int64_t owned);
  void take_over(const Grouped& grouped, std::int64_t owned);
  void swap_counts(Executor& executor);
  void find_senders(Executor& executor, const Grouped& grouped);
  void place_arrivals();
  [[nodiscard]] std::vector<SparseNumber> exchange_sparsely(const std::vector<SparseNumber>& numbers,
                                                            std::string_view purpose);

  void begin(Executor& executor);
  void begin(Executor& executor, const ListMover& mover, ListOperation operation);
  void end_in_kernels(const ListStep& step);
  void run(const ListStep& step);
  bool poll(const ListStep& step);
  void unpack(const ListStep& step);
  [[nodiscard]] std::chrono::milliseconds limit_of(const ListStep& step) const;
  [[noreturn]] void fail(Executor& executor, const Error& error);

  std::shared_ptr<ContextState> context_;
  Tags tags_;  ///< declared before their users, so that they are destroyed after them
  Purpose purpose_;
  Forced<Transport> transport_;
  Forced<Initiation> initiation_;
  bool on_host_;
  bool has_neighbours_ = false;
  bool has_lists_ = false;
  std::uint64_t sparse_rounds_ = 0;

  std::vector<std::unique_ptr<ListLink>> links_;  ///< by rank
  std::map<int, Path> chosen_;                    ///< by rank
  std::map<Transport, std::unique_ptr<ListPath>> paths_;
  std::unique_ptr<ListPortPlan> port_;
  bool fenced_for_port_ = false;       ///< no kernel uses a port since the last rebuild
  KernelListPath* kernels_ = nullptr;  ///< of paths_: the one whose kernels signal and wait
  std::unique_ptr<ListPath> self_path_;
  bool fences_first_ = false;

  ListIndex index_;
  GrowingBuffer ids_;
  GrowingBuffer order_;
  GrowingBuffer offsets_;
  MirroredBuffer begins_;
  MirroredBuffer named_;
  MirroredBuffer bin_of_rank_;
  std::vector<int> bins_;  ///< the ranks that bin_of_rank_ knows

  std::uint64_t epoch_ = 0;
  std::optional<ListOperation> in_flight_;
  std::vector<ListArrival> arrivals_;
  std::vector<ListPart> parts_;
  FirstError error_;
};

}  // namespace selvage::detail
