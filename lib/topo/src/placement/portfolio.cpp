#include "mapper.hpp"
#include "relief.hpp"

#include <selvage/topo/placement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace selvage::topo {
namespace {

constexpr int random_baselines = 4;
constexpr std::size_t most_relieved = 3;

/// Tries the methods one after the other on one problem.
class Portfolio {
 public:
  explicit Portfolio(const MappingProblem& problem)
      : problem_(problem),
        whole_(guest_graph(problem.traffic, problem.fabric.slot_count(), problem.fabric.largest_cost())),
        graph_(thinned(whole_)) {}

  PortfolioResult run() {
    for (const Mapper& mapper : mappers()) {
      if (mapper.name == "random") {
        add_random(mapper);
        continue;
      }
      const std::optional<Slots> slots = mapper.map(input(problem_.seed));
      if (!slots) continue;
      add(std::string(mapper.name), *slots);
      if (mapper.is_refined && graph_.has_edges()) {
        add(fmt::format("{}+swap", mapper.name), refined_by_swaps(input(problem_.seed), *slots));
      }
    }
    add_within_guard();
    choose();
    return std::move(result_);
  }

 private:
  [[nodiscard]] MapperInput input(std::uint64_t seed) const {
    return {.graph = graph_, .fabric = problem_.fabric, .grid = problem_.grid, .seed = seed};
  }

  void add(std::string method, Slots slots) {
    costs_.push_back(total_cost(whole_, slots, [&](int a, int b) { return problem_.fabric.cost(a, b); }));
    result_.methods.push_back(measured(std::move(method), std::move(slots)));
  }

  [[nodiscard]] MethodResult measured(std::string method, Slots slots) const {
    slots.resize(static_cast<std::size_t>(problem_.traffic.rank_count()));
    Placement placement(std::move(slots), problem_.fabric.slot_count());
    const Metrics metrics = measure(problem_, placement);
    return {std::move(method), std::move(placement), metrics};
  }

  void add_random(const Mapper& mapper) {
    Metrics mean;
    for (int draw = 0; draw < random_baselines; ++draw) {
      add("random", *mapper.map(input(problem_.seed * random_baselines + static_cast<std::uint64_t>(draw))));
      const Metrics one = result_.methods.back().metrics;
      mean.hop_bytes += one.hop_bytes / random_baselines;
      mean.average_dilation += one.average_dilation / random_baselines;
      mean.largest_dilation = std::max(mean.largest_dilation, one.largest_dilation);
      mean.bytes_between_hosts += one.bytes_between_hosts / random_baselines;
      if (one.largest_link_load) {
        mean.largest_link_load =
            mean.largest_link_load.value_or(0) + *one.largest_link_load / random_baselines;
      }
      if (draw == 0) continue;
      result_.methods.pop_back();
      costs_.pop_back();
    }
    result_.methods.back().metrics = mean;
    random_ = result_.methods.size() - 1;
  }

  /// Where the guard refuses the cheapest, the cheapest that it lets pass is looked for.
  void add_within_guard() {
    const std::vector<std::size_t> order = cheapest_first();
    if (!gains_enough(order.front()) || passes(order.front())) return;
    std::uint64_t below = costs_.front() * (100 - least_gain_percent) / 100 + 1;
    for (const std::size_t method : order) {
      if (costs_[method] >= below) break;
      if (passes(method)) below = costs_[method];
    }
    const auto slots = map_exhaustively_within(input(problem_.seed), below, [&](const Slots& candidate) {
      const MethodResult result = measured({}, candidate);
      return loads_no_more(result) && time_of_longest(result.placement) <= 1;
    });
    if (slots)
      add("exhaustive+guard", *slots);
    else
      add_relieved(order, below);
  }

  /// The cheapest ones that load a link more, with swaps that take load off.
  void add_relieved(const std::vector<std::size_t>& order, std::uint64_t below) {
    for (std::size_t i = 0; i < std::min(order.size(), most_relieved); ++i) {
      const MethodResult& method = result_.methods[order[i]];
      if (costs_[order[i]] >= below) return;
      if (loads_no_more(method)) continue;
      auto slots = relieved(problem_, with_free_slots(method.placement),
                            *result_.methods.front().metrics.largest_link_load);
      if (slots) add(method.method + "+guard", std::move(*slots));
    }
  }

  /// A slot for each vertex, those that no rank takes in ascending order.
  [[nodiscard]] static Slots with_free_slots(const Placement& placement) {
    Slots slots = placement.slots();
    std::vector<bool> taken(static_cast<std::size_t>(placement.slot_count()), false);
    for (const int slot : slots) taken[slot] = true;
    for (int slot = 0; slot < placement.slot_count(); ++slot) {
      if (!taken[slot]) slots.push_back(slot);
    }
    return slots;
  }

  /// All methods but the random baseline.
  [[nodiscard]] std::vector<std::size_t> cheapest_first() const {
    std::vector<std::size_t> order(result_.methods.size());
    std::iota(order.begin(), order.end(), 0);
    order.erase(std::find(order.begin(), order.end(), random_));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return costs_[a] < costs_[b]; });
    return order;
  }

  void choose() {
    const std::vector<std::size_t> order = cheapest_first();
    result_.best = order.front();
    bool some_refused = false;
    for (const std::size_t method : order) {
      if (!gains_enough(method)) break;
      if (!passes(method)) {
        some_refused = true;
        continue;
      }
      result_.chosen = method;
      result_.reason =
          some_refused
              ? "cheapest of those that neither load a link more than the default does nor take longer"
              : "cheapest";
      return;
    }
    result_.reason = default_reason(some_refused);
  }

  [[nodiscard]] std::string default_reason(bool some_refused) const {
    if (!whole_.has_edges()) return "nothing is sent between ranks";
    if (problem_.fabric.is_flat()) return "all slots are equally far from each other";
    if (some_refused)
      return "what is cheaper than the default loads a link more than it does, or takes longer";
    return fmt::format("no method gains {} %", least_gain_percent);
  }

  /// In whole numbers, so that the answer is the same everywhere.
  [[nodiscard]] bool gains_enough(std::size_t method) const {
    return costs_.front() > 0 && costs_[method] * 100 <= costs_.front() * (100 - least_gain_percent);
  }

  /// The guard.
  [[nodiscard]] bool passes(std::size_t method) {
    passes_.resize(result_.methods.size());
    const MethodResult& result = result_.methods[method];
    if (!passes_[method]) passes_[method] = loads_no_more(result) && time_of_longest(result.placement) <= 1;
    return *passes_[method];
  }

  [[nodiscard]] bool loads_no_more(const MethodResult& result) const {
    return result.metrics.largest_link_load <= result_.methods.front().metrics.largest_link_load;
  }

  /// The time of all transfers at once, of the longest that the guard allows; 0 where it isn't known.
  [[nodiscard]] double time_of_longest(const Placement& placement) {
    if (!longest_)
      longest_ = longest_time_ratio * transfer_time(problem_, result_.methods.front().placement).value_or(0);
    return *longest_ > 0 ? transfer_time(problem_, placement).value_or(0) / *longest_ : 0;
  }

  const MappingProblem& problem_;
  GuestGraph whole_;  // what placements cost
  GuestGraph graph_;  // what methods look at
  PortfolioResult result_;
  std::vector<std::uint64_t> costs_;
  std::size_t random_ = 0;
  std::vector<std::optional<bool>> passes_;  // the guard, where it was asked
  std::optional<double> longest_;            // transfer time
};

}  // namespace

PortfolioResult place_by_portfolio(const MappingProblem& problem) {
  return Portfolio(problem).run();
}

}  // namespace selvage::topo
