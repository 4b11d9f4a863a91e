#include "halo_plan.hpp"

#include "links/local.hpp"
#include "links/peer.hpp"
#include "links/registry.hpp"
#include "proxy/proxy.hpp"
#include "runtime/cards.hpp"
#include "runtime/environment_options.hpp"
#include "runtime/mappable.hpp"
#include "runtime/measured_job.hpp"
#include "runtime/wait.hpp"

#include <selvage/counted.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

namespace selvage::detail {
namespace {

constexpr std::string_view halo_rebinding = "the rebinding of a HaloExchange";
constexpr std::string_view port_construction = "the construction of a HaloPort";

std::string direction_name(Direction direction, int axes) {
  std::string name;
  for (int axis = 0; axis < axes; ++axis) {
    const int step = component(direction, axis);
    name += step < 0 ? '-' : step > 0 ? '+' : '0';
  }
  return name;
}

}  // namespace

HaloPlan::HaloPlan(std::shared_ptr<ContextState> context, const Executor& executor,
                   Neighbourhood neighbourhood, const HaloChoices& choices, std::vector<Field> fields)
    : context_(std::move(context)),
      neighbourhood_(std::move(neighbourhood)),
      fields_(std::move(fields)),
      on_host_(executor.runs_on_host()),
      ghost_reuse_(choices.ghost_reuse),
      corners_(choices.corners) {
  context_->all_or_none(halo_construction, [&] {
    transport_ = forced_transport(choices.transport, context_->options());
    initiation_ = forced_initiation(choices.initiation, context_->options());
  });
  require_same_everywhere(choices);
  context_->all_or_none(halo_construction, [&] {
    require_valid_arguments(executor);
    require_fields_fit();
    require_boxes_hold_halos();
  });
  tags_ = context_->lease_tags(tags_per_plan);
  static_cast<void>(measured_job(*context_, halo_construction));
  peers_ = introduce(tags_.first());
  make_transports(peers_, executor, tags_.first());
}

/// An exchange that is underway, or that failed, may leave messages behind. Freeing GPU memory that others map is undefined in CUDA, so all
/// ranks wait for each other; ranks that map no memory take part, since no rank knows which do.
HaloPlan::~HaloPlan() {
  if (fields_in_flight_ != 0) context_->mark_broken();
  ports_.clear();
  disconnect();
}

void HaloPlan::disconnect() noexcept {
  for (const auto& transport : transports_) transport->unmap();
  if (!on_host_) context_->try_barrier();
  transports_.clear();
}

/// Until neighbours have agreed to the new Views nothing is given up of the plan for those before. New tags, because a message of the
/// transports before may still be underway.
void HaloPlan::rebind(const Executor& executor, std::vector<Field> fields) {
  const std::size_t views_before = fields_.size();
  Tags tags;
  std::vector<PeerPlan> peers;
  fields_.swap(fields);
  try {
    context_->all_or_none(halo_rebinding, [&] {
      require_rebindable(views_before);
      require_valid_arguments(executor);
      require_fields_fit();
    });
    tags = context_->lease_tags(tags_per_plan);
    peers = introduce(tags.first());
  } catch (...) {
    fields_.swap(fields);
    throw;
  }
  disconnect();
  paths_.clear();
  tags_ = std::move(tags);
  peers_ = std::move(peers);
  epoch_ = 0;
  previous_fields_ = 0;
  error_.noting(*context_, [&] { make_transports(peers_, executor, tags_.first()); });
}

void HaloPlan::require_rebindable(std::size_t views) const {
  error_.require_none("a HaloExchange");
  if (fields_in_flight_ != 0)
    throw Error(ErrorKind::usage,
                fmt::format("rank {} rebinds a HaloExchange while its exchange of epoch {} is in "
                            "flight: finish it first",
                            context_->rank(), epoch_));
  if (!ports_.empty())
    throw Error(ErrorKind::usage,
                "a HaloExchange with a HaloPort, which holds addresses, can't be rebound: make another one");
  if (fields_.size() != views)
    throw Error(ErrorKind::usage, fmt::format("rank {} rebinds a HaloExchange of {} to {}", context_->rank(),
                                              counted(views, "View"), fields_.size()));
  const int axes = neighbourhood_.shape.axes;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const int given = fields_[f].rank;
    if (given == axes || given == axes + 1) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format("{} on rank {} has {}; this HaloExchange takes {}, or one more for components",
                    view_name(f, fields_[f].label), context_->rank(), counted(given, "axis", "axes"), axes));
  }
}

FieldCard HaloPlan::card_of(const Field& field) const {
  FieldCard card;
  const auto range = context_->name_memory(field.data, field.span_bytes(), field.memory);
  if (range) card.range = *range;
  card.is_shared = range.has_value();
  card.memory = field.memory;
  card.strides = field.strides;
  card.element_bytes = field.element_bytes;
  card.components = components_of(field);
  std::strncpy(card.label.data(), field.label.c_str(), card.label.size() - 1);
  return card;
}

std::vector<PeerPlan> HaloPlan::introduce(int first_tag) {
  std::vector<FieldCard> mine;
  for (const Field& field : fields_) mine.push_back(card_of(field));
  std::vector<CardsFor<FieldCard>> cards;
  for (const Neighbour& neighbour : neighbourhood_.neighbours) cards.push_back({neighbour.rank, mine});
  auto theirs = swap_cards(*context_, first_tag, cards, "to describe their Views");
  std::vector<PeerPlan> peers;
  for (std::size_t i = 0; i < theirs.size(); ++i)
    peers.push_back({neighbourhood_.neighbours[i], std::move(theirs[i])});
  context_->all_or_none(halo_construction, [&] {
    for (const PeerPlan& peer : peers) require_matching(peer);
  });
  return peers;
}

PairFacts HaloPlan::facts_about(const PeerPlan& peer) const {
  PairFacts facts;
  facts.rank = peer.neighbour.rank;
  facts.same_host = context_->machine().same_host(context_->rank(), facts.rank);
  facts.gpu_aware_refusal = context_->gpu_aware_refusal();
  facts.waiting_kernels_refusal = context_->waiting_kernels_refusal(facts.rank);
  facts.threads_refusal = context_->threads_refusal();
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const FieldCard mine = card_of(fields_[f]);
    const FieldCard& theirs = peer.cards[f];
    for (const MemoryKind memory : {mine.memory, theirs.memory}) {
      (memory == MemoryKind::device ? facts.device_memory : facts.host_memory) = true;
    }
    if (mine.is_shared && theirs.is_shared) continue;
    const FieldCard& unshared = mine.is_shared ? theirs : mine;
    facts.unshared_field =
        fmt::format("{} of rank {} {}", view_name(f, unshared.label.data()),
                    mine.is_shared ? facts.rank : context_->rank(), why_unmappable(unshared.memory));
  }
  facts.mapping_refusal =
      context_->mapping_refusal(facts.device_memory ? MemoryKind::device : MemoryKind::host);
  return facts;
}

void HaloPlan::make_transports(std::vector<PeerPlan> peers, const Executor& executor, int first_tag) {
  std::map<std::pair<Transport, Initiation>, std::vector<PeerPlan>> by_path;
  std::vector<PeerPlan> local;
  context_->all_or_none(halo_construction, [&] {
    for (PeerPlan& peer : peers) {
      if (peer.neighbour.rank == context_->rank()) {
        note_path(peer, "copy", "the neighbour is this rank itself");
        local.push_back(std::move(peer));
        continue;
      }
      const Path path = select_path(halo_transports(), "halos", facts_about(peer), transport_, initiation_,
                                    executor.runs_on_host());
      note_path(peer, fmt::format("{}, {}", to_string(path.transport), to_string(path.initiation)), path.why);
      by_path[{path.transport, path.initiation}].push_back(std::move(peer));
    }
  });
  const auto parts = [&](std::vector<PeerPlan> served, Initiation initiation) {
    return TransportParts{.context = *context_,
                          .executor = executor,
                          .fields = fields_,
                          .axes = neighbourhood_.shape.axes,
                          .peers = std::move(served),
                          .ghost_reuse = ghost_reuse_,
                          .initiation = initiation,
                          .first_tag = first_tag};
  };
  context_->all_or_none(halo_construction, [&] {
    if (!local.empty())
      transports_.push_back(make_local_transport(parts(std::move(local), Initiation::stream)));
    for (auto& [path, served] : by_path)
      transports_.push_back(make_halo_link(path.first, parts(std::move(served), path.second)));
  });
}

void HaloPlan::note_path(const PeerPlan& peer, std::string how, std::string why) {
  ChosenPath path{.rank = peer.neighbour.rank,
                  .directions = {},
                  .sent_bytes = 0,
                  .received_bytes = 0,
                  .how = std::move(how),
                  .why = std::move(why)};
  const std::string measured =
      measured_job(*context_, halo_construction).describe_link(context_->rank(), path.rank);
  if (!measured.empty()) path.why += "; " + measured;
  const int axes = neighbourhood_.shape.axes;
  std::vector<std::string> names;
  for (const Boundary& boundary : peer.neighbour.boundaries)
    names.push_back(direction_name(boundary.direction, axes));
  path.directions = fmt::format("{}", fmt::join(names, " "));
  path.sent_bytes = Packing(peer.neighbour, fields_, axes, BoundarySide::owned).payload_bytes();
  path.received_bytes = Packing(peer.neighbour, fields_, axes, BoundarySide::ghost).payload_bytes();
  paths_.push_back(std::move(path));
}

std::uint64_t HaloPlan::field_bit(const std::byte* address) const {
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    if (fields_[f].data == address) return std::uint64_t{1} << f;
  }
  throw Error(ErrorKind::usage, "a View that was not given to this HaloExchange's constructor");
}

Step HaloPlan::begin(Executor& executor, std::uint64_t fields, bool reverse, bool at_once) {
  context_->require_own_device(executor);
  error_.require_none("a HaloExchange");
  if (fields_in_flight_ != 0) {
    throw Error(ErrorKind::usage,
                fmt::format("the exchange of epoch {} is still in flight: finish it first", epoch_));
  }
  if (fields == 0) throw Error(ErrorKind::usage, "name at least one View to exchange");
  // Credits are needed for the first exchange, for the same View twice in a row, for reductions, whose landing blocks are always
  // the same, and beside ports, whose kernels put Views too. A reduction fills no ghosts: those from before it may still be read.
  guarded_ = reverse || epoch_ == 0 || !ports_.empty() || (fields & previous_fields_) != 0;
  fields_in_flight_ = fields;
  previous_fields_ = reverse ? previous_fields_ | fields : fields;
  ++epoch_;
  const Step step{executor, epoch_, fields, reverse, guarded_, at_once};
  error_.noting(*context_, [&] {
    for (const auto& transport : transports_) transport->start(step);
  });
  return step;
}

void HaloPlan::prepare_capture(std::uint64_t fields) {
  check();
  for (const auto& transport : transports_) transport->prepare_capture(fields);
}

void HaloPlan::check() {
  error_.noting(*context_, [&] {
    for (const auto& transport : transports_) transport->check();
    for (const auto& port : ports_) port->check();
  });
}

/// Why a port's kernels can't store to a neighbour's memory; empty where they can.
std::string HaloPlan::refuse_port_mapping(const PeerPlan& peer) const {
  if (peer.neighbour.rank == context_->rank()) return {};
  const bool is_mpi =
      transport_.choice == Transport::mpi_direct || transport_.choice == Transport::mpi_staged;
  if (is_mpi) return fmt::format("transport {} is forced", to_string(*transport_.choice));
  return refuse_peer(facts_about(peer));
}

HaloPort HaloPlan::make_port(Executor& executor, std::span<const std::byte* const> addresses) {
  if (!neighbourhood_.by_direction) {
    throw Error(ErrorKind::unsupported,
                "HaloExchange::device() needs a process grid, on which one neighbour lies in each direction");
  }
  std::vector<std::size_t> chosen;
  std::vector<std::string> refusals;
  bool has_relays = false;
  context_->all_or_none(port_construction, [&] {
    for (const std::byte* address : addresses)
      chosen.push_back(static_cast<std::size_t>(std::countr_zero(field_bit(address))));
    // A waiting kernel occupies its thread, so the proxy needs one of its own, on hosts too.
    const std::string no_proxy = executor.runs_on_host() ? context_->threads_refusal()
                                                         : Proxy::refusal(context_->threads_refusal(), false);
    for (const PeerPlan& peer : peers_) {
      const std::string& refusal = refusals.emplace_back(refuse_port_mapping(peer));
      if (refusal.empty()) continue;
      has_relays = true;
      if (no_proxy.empty()) continue;
      throw Error(ErrorKind::unsupported,
                  fmt::format("HaloExchange::device() can't map the memory of rank {}: {}; and {}",
                              peer.neighbour.rank, refusal, no_proxy));
    }
  });
  has_relays = context_->extremes({has_relays ? 1 : 0}, port_construction).front().largest != 0;
  Tags tags = context_->lease_tags(tags_per_port);
  // If one rank fails to make its port, all ranks destroy theirs.
  std::unique_ptr<PortPlan> port;
  context_->all_or_none(port_construction, [&] {
    port = std::make_unique<PortPlan>(PortParts{.context = *context_,
                                                .executor = executor,
                                                .shape = neighbourhood_.shape,
                                                .fields = fields_,
                                                .chosen = chosen,
                                                .peers = peers_,
                                                .refusals = refusals,
                                                .ghost_reuse = ghost_reuse_,
                                                .has_relays = has_relays,
                                                .first_tag = tags.first()});
  });
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    port_paths_ += fmt::format("  port {}: rank {} {}\n", ports_.size(), peers_[i].neighbour.rank,
                               refusals[i].empty() ? "directly" : "by proxy; " + refusals[i]);
  }
  port_tags_.push_back(std::move(tags));
  ports_.push_back(std::move(port));
  return ports_.back()->port();
}

void HaloPlan::exchange(Executor& executor, std::uint64_t fields) {
  end(begin(executor, fields, false, true));
}

std::uint64_t HaloPlan::start(Executor& executor, std::uint64_t fields) {
  return begin(executor, fields, false, false).epoch;
}

void HaloPlan::end(const Step& step) {
  error_.noting(*context_, [&] { await_end(step); });
  fields_in_flight_ = 0;
}

void HaloPlan::await_end(const Step& step) {
  if (poll_until(context_->timeout(), context_->yields(), [&] { return progress_all(transports_, step); }))
    return;
  throw Error(ErrorKind::timeout,
              fmt::format("a halo {} waited {} ms for {}", step.reverse ? "reduction" : "exchange",
                          context_->timeout().count(), describe_late(transports_, step)));
}

void HaloPlan::finish(Executor& executor, std::uint64_t epoch) {
  error_.require_none("a HaloExchange");
  if (epoch != epoch_ || fields_in_flight_ == 0) {
    throw Error(ErrorKind::usage, "finish() needs what start() of the same HaloExchange returned, once");
  }
  context_->require_own_device(executor);
  end({executor, epoch_, fields_in_flight_, false, guarded_, false});
}

void HaloPlan::reduce(Executor& executor, Combiner& combiner, std::uint64_t fields) {
  end(begin(executor, fields, true, true));
  contributions_.clear();
  const auto field = static_cast<std::size_t>(std::countr_zero(fields));
  for (const auto& transport : transports_) transport->append_contributions(field, contributions_);
  // In the order of directions, so that the order of additions depends neither on transports nor on arrival.
  std::ranges::sort(contributions_, {},
                    [](const Contribution& each) { return std::pair(each.direction, each.rank); });
  for (const Contribution& contribution : contributions_) combiner.combine(contribution.box);
}

std::int64_t HaloPlan::bytes_per_exchange() const {
  std::int64_t bytes = 0;
  for (const ChosenPath& path : paths_) bytes += path.rank == context_->rank() ? 0 : path.sent_bytes;
  return bytes;
}

std::string HaloPlan::explain() const {
  const Shape& shape = neighbourhood_.shape;
  std::string text =
      fmt::format("halo of rank {}: {}, width", context_->rank(), counted(fields_.size(), "View"));
  for (int axis = 0; axis < shape.axes; ++axis) {
    text += fmt::format(" {}+{}", shape.width[axis].low, shape.width[axis].high);
  }
  text += corners_ ? ", corners\n" : ", faces only\n";
  if (paths_.empty()) text += "  no neighbours\n";
  for (const ChosenPath& path : paths_) {
    text += fmt::format("  rank {} at {}: {}, {} B out, {} B in; {}\n", path.rank, path.directions, path.how,
                        path.sent_bytes, path.received_bytes, path.why);
  }
  text += port_paths_;
  return text;
}

}  // namespace selvage::detail
