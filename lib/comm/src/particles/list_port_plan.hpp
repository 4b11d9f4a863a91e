#pragma once

#include "list_path.hpp"
#include "memory/arena.hpp"

#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/growing_buffer.hpp>
#include <selvage/comm/detail/list_port_table.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace selvage::detail {

class ContextState;

/// The memory of ListPorts of one list: ghosts that kernels of other ranks store to, flags, and the addresses of those of other ranks.
class ListPortPlan {
 public:
  ListPortPlan(ContextState& context, int card_tag, bool on_host);
  ListPortPlan(const ListPortPlan&) = delete;
  ListPortPlan& operator=(const ListPortPlan&) = delete;
  ~ListPortPlan();

  /// Makes the table for the present lists. Collective among ranks that share ghosts. Kernels that use the last table must have ended.
  /// \param links   of all ranks, with this one, by rank
  /// \param index   `ghosts` and `entries` of it
  /// \throws Error{usage}: other elements on another rank; Error{timeout}
  [[nodiscard]] ListPortTable open(std::span<const std::unique_ptr<ListLink>> links, const ListIndex& index,
                                   std::size_t element_bytes, Executor& executor);

  /// Throws the errors that kernels have found. Call it after they have ended. \throws Error{timeout}, Error{usage}
  void check() const;

 private:
  /// The addresses of the ghosts that a rank sends to another, and of the flag for their arrival.
  struct Card {
    SharedRange ghosts;
    std::int64_t to_odd_epochs = 0;
    SharedRange arrived;
    std::int64_t element_bytes = 0;
  };

  void reserve(const ListIndex& index, std::size_t element_bytes, Executor& executor);
  void begin_epochs(std::size_t served, Executor& executor);
  [[nodiscard]] Flag* arrived() const;
  [[nodiscard]] Card card_for(const ListLink& link, std::size_t row, std::size_t element_bytes) const;
  [[nodiscard]] std::vector<Card> swap_cards(std::span<const ListLink* const> served,
                                             std::size_t element_bytes) const;
  void upload(std::span<const ListLink* const> served, std::span<const Card> cards, Executor& executor);
  [[nodiscard]] std::byte* map(const SharedRange& range);

  ContextState& context_;
  int card_tag_;
  bool on_host_;
  std::vector<Buffer> memory_;  ///< ghosts and flags of this rank, old ones too: graphs may still name them
  std::vector<std::shared_ptr<void>> mappings_;  ///< of others'
  Buffer arrived_memory_;                        ///< two sets of flags, by rank
  SharedRange arrived_;
  Buffer no_flags_;             ///< zeros, as many as a set
  std::size_t first_flag_ = 0;  ///< of the set of the present table
  Buffer ghost_memory_;
  SharedRange ghosts_;
  std::int64_t to_odd_epochs_ = 0;
  MirroredBuffer peers_;
  GrowingBuffer places_;
  MirroredBuffer state_;
  Buffer fault_memory_;
  ListPortFault* fault_ = nullptr;
};

}  // namespace selvage::detail
