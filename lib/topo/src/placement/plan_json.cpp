#include "text/json_value.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/rank_files.hpp>

#include <fmt/format.h>

#include <limits>
#include <set>
#include <utility>

namespace selvage::topo {
namespace {

constexpr std::uint64_t most_cpus = 1 << 20;

/// Reads one text; errors name it.
class PlanReader {
 public:
  PlanReader(std::string_view text, std::string name) : name_(std::move(name)) {
    all_ = Json::parse(text, nullptr, false);
    if (all_.is_discarded()) fail("it is not JSON");
    if (!all_.is_object()) fail("it is not a JSON object");
  }

  PlacementPlan read() {
    if (integer(all_, "selvage_placement_version", "the placement", std::numeric_limits<int>::max()) != 1)
      fail("its version is not 1");
    PlacementPlan plan;
    for (const Json& host : list("hosts")) {
      const std::string what = fmt::format("host {}", plan.hosts.size());
      const auto name = member(host, "name", what);
      if (!name.is_string() || !is_host_name(name.get_ref<const std::string&>())) {
        fail(fmt::format("the name of {} is not one", what));
      }
      plan.hosts.push_back({name.get<std::string>(), integer(host, "slots", what, Fabric::max_slots, 1)});
    }
    if (plan.hosts.empty()) fail("it names no hosts");
    std::set<std::pair<int, int>> taken;
    for (const Json& rank : list("ranks")) {
      const std::string what = fmt::format("rank {}", plan.ranks.size());
      const int host = integer(rank, "host", what, static_cast<int>(plan.hosts.size()) - 1);
      const int slot = integer(rank, "slot", what, plan.hosts[host].slots - 1);
      if (!taken.emplace(host, slot).second) fail(fmt::format("{} is in a slot that is taken", what));
      plan.ranks.push_back(
          {host, slot, numbers(rank, "cores", what), numbers(rank, "hardware_threads", what)});
    }
    if (const auto why = all_.find("cores_unknown"); why != all_.end() && why->is_string())
      plan.cores_unknown = why->get<std::string>();
    return plan;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::input, fmt::format("{}: {}", name_, what));
  }

  /// What may stand in a line of a launcher's file.
  [[nodiscard]] static bool is_host_name(const std::string& name) {
    constexpr std::string_view others = "-._:";
    for (const char c : name) {
      const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!is_plain && others.find(c) == std::string_view::npos) return false;
    }
    return !name.empty();
  }

  [[nodiscard]] const Json& member(const Json& object, const char* key, const std::string& what) const {
    if (!object.is_object()) fail(fmt::format("{} is not a JSON object", what));
    const auto found = object.find(key);
    if (found == object.end()) fail(fmt::format("{} has no '{}'", what, key));
    return *found;
  }

  [[nodiscard]] int integer(const Json& object, const char* key, const std::string& what, int most,
                            int least = 0) const {
    const Json& value = member(object, key, what);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < static_cast<std::uint64_t>(least) ||
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
      fail(fmt::format("'{}' of {} is not a whole number from {} to {}", key, what, least, most));
    }
    return value.get<int>();
  }

  /// Ascending; none where it isn't there.
  [[nodiscard]] std::vector<int> numbers(const Json& object, const char* key, const std::string& what) const {
    std::vector<int> all;
    const auto found = object.find(key);
    if (found == object.end()) return all;
    if (!found->is_array()) fail(fmt::format("'{}' of {} is not a list", key, what));
    for (const Json& item : *found) {
      const bool is_next = item.is_number_unsigned() && item.get<std::uint64_t>() <= most_cpus &&
                           (all.empty() || item.get<int>() > all.back());
      if (!is_next) fail(fmt::format("'{}' of {} is not a list of ascending numbers", key, what));
      all.push_back(item.get<int>());
    }
    return all;
  }

  [[nodiscard]] const Json& list(const char* key) const {
    const Json& value = member(all_, key, "the placement");
    if (!value.is_array()) fail(fmt::format("'{}' is not a list", key));
    return value;
  }

  std::string name_;
  Json all_;
};

}  // namespace

PlacementPlan plan_from_json(std::string_view text, const std::string& name) {
  return PlanReader(text, name).read();
}

}  // namespace selvage::topo
