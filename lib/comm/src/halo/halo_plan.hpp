#pragma once

#include "layouts/neighbourhood.hpp"
#include "links/path_selector.hpp"
#include "links/transport.hpp"
#include "port_plan.hpp"
#include "runtime/context_state.hpp"
#include "runtime/first_error.hpp"

#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/field.hpp>
#include <selvage/comm/options.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::detail {

/// HaloOptions without the width, which is in the Neighbourhood.
struct HaloChoices {
  bool corners = true;
  GhostReuse ghost_reuse = GhostReuse::credit;
  std::optional<Transport> transport;
  std::optional<Initiation> initiation;
};

inline constexpr std::string_view halo_construction = "the construction of a HaloExchange";

/// "View 1", with the View's label if it has one.
[[nodiscard]] std::string view_name(std::size_t index, std::string_view label);

/// What a HaloExchange chooses, allocates and maps in its constructor, and the state of the exchange that is underway.
class HaloPlan {
 public:
  /// Collective. \throws what HaloExchange's constructor says
  HaloPlan(std::shared_ptr<ContextState> context, const Executor& executor, Neighbourhood neighbourhood,
           const HaloChoices& choices, std::vector<Field> fields);
  ~HaloPlan();
  HaloPlan(const HaloPlan&) = delete;
  HaloPlan& operator=(const HaloPlan&) = delete;

  /// Collective. \throws what HaloExchange::rebind says
  void rebind(const Executor& executor, std::vector<Field> fields);
  void exchange(Executor& executor, std::uint64_t fields);
  /// \return the epoch of the exchange
  std::uint64_t start(Executor& executor, std::uint64_t fields);
  /// \throws the errors of kernels
  void check();
  [[nodiscard]] bool failed() const { return error_.has_come(); }
  void prepare_capture(std::uint64_t fields);
  void finish(Executor& executor, std::uint64_t epoch);
  void reduce(Executor& executor, Combiner& combiner, std::uint64_t fields);

  /// Collective. \param addresses  of the Views, in the caller's order
  [[nodiscard]] HaloPort make_port(Executor& executor, std::span<const std::byte* const> addresses);

  [[nodiscard]] PublicCall public_call() const { return context_->public_call(); }
  [[nodiscard]] std::uint64_t field_bit(const std::byte* address) const;
  [[nodiscard]] std::string explain() const;
  [[nodiscard]] std::int64_t bytes_per_exchange() const;

 private:
  struct ChosenPath {
    int rank;
    std::string directions;
    std::int64_t sent_bytes;
    std::int64_t received_bytes;
    std::string how;
    std::string why;
  };

  void require_same_everywhere(const HaloChoices& choices);
  void require_valid_arguments(const Executor& executor) const;
  void require_fields_fit() const;
  void require_boxes_hold_halos() const;
  void disconnect() noexcept;
  void require_rebindable(std::size_t views) const;
  /// Collective: tells neighbours where this rank's Views lie. \throws Error{usage} where theirs don't match
  [[nodiscard]] std::vector<PeerPlan> introduce(int first_tag);
  [[nodiscard]] FieldCard card_of(const Field& field) const;
  void require_matching(const PeerPlan& peer) const;
  [[nodiscard]] std::int64_t components_of(const Field& field) const;
  [[nodiscard]] PairFacts facts_about(const PeerPlan& peer) const;
  void make_transports(std::vector<PeerPlan> peers, const Executor& executor, int first_tag);
  [[nodiscard]] std::string refuse_port_mapping(const PeerPlan& peer) const;
  void note_path(const PeerPlan& peer, std::string how, std::string why);
  /// \param at_once  whether end() follows before anything else is enqueued
  [[nodiscard]] Step begin(Executor& executor, std::uint64_t fields, bool reverse, bool at_once);
  void end(const Step& step);
  /// Waits until the exchange that is underway is complete. \throws Error{timeout}
  void await_end(const Step& step);

  std::shared_ptr<ContextState> context_;
  Tags tags_;  ///< declared before their users, so that they are destroyed after them
  Neighbourhood neighbourhood_;
  std::vector<Field> fields_;
  bool on_host_;
  GhostReuse ghost_reuse_;
  Forced<Transport> transport_;
  Forced<Initiation> initiation_;
  bool corners_;
  std::vector<ChosenPath> paths_;
  std::vector<std::unique_ptr<Link>> transports_;
  std::vector<PeerPlan> peers_;
  std::vector<Tags> port_tags_;  ///< in the order of ports_, and declared before them
  std::vector<std::unique_ptr<PortPlan>> ports_;
  std::string port_paths_;  ///< of explain()
  std::vector<Contribution> contributions_;

  std::uint64_t epoch_ = 0;
  std::uint64_t fields_in_flight_ = 0;  ///< none when 0
  std::uint64_t previous_fields_ = 0;
  bool guarded_ = true;
  FirstError error_;
};

}  // namespace selvage::detail
