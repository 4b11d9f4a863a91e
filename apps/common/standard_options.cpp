#include "common/standard_options.hpp"

#include <charconv>

namespace selvage::app {
namespace {

/// "2x3x1" as {2, 3, 1}; nothing when it is anything else.
std::optional<std::vector<int>> parse_factors(const std::string& text) {
  std::vector<int> factors;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int factor = 0;
    const auto [rest, error] = std::from_chars(at, end, factor);
    if (error != std::errc{} || factor < 1) return std::nullopt;
    factors.push_back(factor);
    if (rest == end) return factors;
    if (*rest != 'x') return std::nullopt;
    at = rest + 1;
  }
}

std::optional<std::vector<int>> read_ranks_grid(Input& input, int dimensions) {
  const std::string text = input.get_text("comm.ranks_grid", "auto");
  if (text == "auto") return std::nullopt;
  auto factors = parse_factors(text);
  if (!factors || static_cast<int>(factors->size()) != dimensions) {
    const std::string example = dimensions == 1 ? "4" : dimensions == 2 ? "2x2" : "2x2x1";
    input.reject("comm.ranks_grid", "must be \"auto\" or the ranks along each axis such as \"" + example +
                                        "\", but is \"" + text + "\"");
  }
  return factors;
}

}  // namespace

StandardOptions read_standard_options(Input& input, const StandardDefaults& defaults) {
  StandardOptions options;
  options.steps = input.get<std::int64_t>("run.steps", defaults.steps, {.least = 0});
  const std::string restart = input.get_text("run.restart", "");
  if (!restart.empty()) options.restart_path = restart;
  if (restart.empty() && input.has("run.restart"))
    input.reject("run.restart", "must name a file, but is empty");
  options.out_dir = input.get_text("run.out", defaults.out_dir);
  if (options.out_dir.empty()) input.reject("run.out", "must name a directory, but is empty");
  options.verify = input.get_bool("run.verify", false);
  options.transport = input.choice("comm.transport", defaults.transports.front(), defaults.transports);
  options.initiation = input.choice("comm.initiation", defaults.initiations.front(), defaults.initiations);
  options.ranks_grid = read_ranks_grid(input, defaults.dimensions);
  return options;
}

}  // namespace selvage::app
