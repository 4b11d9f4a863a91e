#pragma once

#include "layouts/prepared_copy.hpp"
#include "links/path_selector.hpp"
#include "runtime/context_state.hpp"
#include "runtime/first_error.hpp"
#include "transfer_parts.hpp"

#include <selvage/comm/typed_transfer.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::detail {

class ContextState;

/// A TypedTransfer without the types of its Views.
class TransferPlan {
 public:
  TransferPlan(std::shared_ptr<ContextState> context, const Executor& executor,
               const std::vector<TypedTransfer::End>& sends, const std::vector<TypedTransfer::End>& receives,
               const TypedTransfer::Options& options);
  TransferPlan(const TransferPlan&) = delete;
  TransferPlan& operator=(const TransferPlan&) = delete;
  /// Mappings are closed before any owner frees what is mapped: CUDA leaves the other order undefined.
  ~TransferPlan();

  [[nodiscard]] PublicCall public_call() const { return context_->public_call(); }
  void start(Executor& executor);
  void finish(Executor& executor);
  void check();
  [[nodiscard]] std::string explain() const;

 private:
  [[nodiscard]] TransferPart flatten_end(const TypedTransfer::End& end, const char* what) const;
  void add_ends(const std::vector<TypedTransfer::End>& sends,
                const std::vector<TypedTransfer::End>& receives);
  [[nodiscard]] Partner& partner_of(int rank);
  void lay_out_flags(const Executor& executor);
  [[nodiscard]] std::vector<std::string> greet(int tag, const TypedTransfer::Options& options);
  void swap_cards(int tag);
  [[nodiscard]] PartCard card_of(const TransferPart& part) const;
  void require_same_number(const Partner& partner) const;
  void require_matching(const Partner& partner) const;
  [[nodiscard]] PairFacts facts_about(const Partner& partner) const;
  [[nodiscard]] static std::int64_t mean_block_bytes(const Partner& partner);
  /// Partners by the path that serves them.
  using Served = std::map<std::pair<Transport, Initiation>, std::vector<Partner>>;
  [[nodiscard]] Served choose_paths(const TypedTransfer::Options& options);
  void make_links(const Executor& executor, const TypedTransfer::Options& options, Served served, int tag);
  [[nodiscard]] Step step_of(Executor& executor) const;
  /// Waits until the transfer that is underway is complete. \throws Error{timeout}
  void await_end(const Step& step);

  std::shared_ptr<ContextState> context_;
  Tags tags_;  ///< declared before its users, so that it is destroyed after them
  bool on_host_;
  LayoutCache& layouts_;
  Buffer flags_;  ///< one Flags per partner, written by it
  std::vector<Partner> partners_;
  Partner self_;  ///< ends of transfers from this rank to itself
  std::unique_ptr<PreparedCopy> self_copy_;
  std::vector<std::unique_ptr<Link>> links_;
  std::string explanation_;
  std::uint64_t epoch_ = 0;
  bool in_flight_ = false;
  FirstError error_;
};

}  // namespace selvage::detail
