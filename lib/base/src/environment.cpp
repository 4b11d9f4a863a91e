#include <selvage/environment.hpp>
#include <selvage/error.hpp>
#include <selvage/suggestion.hpp>
#include <selvage/whole_number.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace selvage {
namespace {

constexpr std::string_view prefix = "SELVAGE_";

/// docs/environment.md says what they mean; environment_documented_test.sh compares both with what the sources read.
const std::array<std::string, 31> known{"SELVAGE_ALLREDUCE",
                                        "SELVAGE_ALLREDUCE_REORDERING",
                                        "SELVAGE_ALLREDUCE_TABLE",
                                        "SELVAGE_APP",
                                        "SELVAGE_BENCHMARKS",
                                        "SELVAGE_BIND",
                                        "SELVAGE_BUILD",
                                        "SELVAGE_COPY_PATHS",
                                        "SELVAGE_COPY_SPLIT_BYTES",
                                        "SELVAGE_CUDA_ARCH",
                                        "SELVAGE_DEPS_DIR",
                                        "SELVAGE_FABRIC",
                                        "SELVAGE_GPU_AWARE_MPI",
                                        "SELVAGE_GRID_REORDER",
                                        "SELVAGE_HARDWARE",
                                        "SELVAGE_INITIATION",
                                        "SELVAGE_IO_TIMEOUT_MS",
                                        "SELVAGE_JOBS",
                                        "SELVAGE_LAUNCHER",
                                        "SELVAGE_LOGICAL_HOSTS",
                                        "SELVAGE_OUT",
                                        "SELVAGE_PROBES",
                                        "SELVAGE_PROFILE_FILE",
                                        "SELVAGE_PROFILE_PARTS",
                                        "SELVAGE_PROXY",
                                        "SELVAGE_QUEUE_PLACEMENT",
                                        "SELVAGE_SETUP_TIMEOUT_MS",
                                        "SELVAGE_TIMEOUT_MS",
                                        "SELVAGE_TOPO",
                                        "SELVAGE_TRANSPORT",
                                        "SELVAGE_TREE"};

}  // namespace

std::optional<std::string> environment_text(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::int64_t environment_integer(const char* name, std::int64_t fallback, std::int64_t least,
                                 std::int64_t most) {
  const auto text = environment_text(name);
  if (!text) return fallback;
  const auto value = whole_number(*text);
  if (!value || *value < least || *value > most) {
    throw Error(ErrorKind::input,
                fmt::format("{}={} is not a whole number from {} to {}", name, *text, least, most));
  }
  return *value;
}

std::optional<std::string> environment_word(const char* name, std::initializer_list<std::string_view> words) {
  auto text = environment_text(name);
  if (!text || std::ranges::find(words, *text) != words.end()) return text;
  throw Error(ErrorKind::input, fmt::format("{}={}: there are {}", name, *text, fmt::join(words, ", ")));
}

std::optional<bool> environment_switch(const char* name) {
  const auto word = environment_word(name, {"yes", "no"});
  if (!word) return std::nullopt;
  return *word == "yes";
}

std::span<const std::string> known_variables() {
  return known;
}

std::vector<std::string> remarks_on_unknown_variables() {
  std::vector<std::string> names;
  for (const std::string& name : known) names.push_back(name.substr(prefix.size()));
  std::vector<std::string> remarks;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string name(text.substr(0, text.find('=')));
    if (!name.starts_with(prefix) || std::ranges::find(known, name) != known.end()) continue;
    const std::string likely = closest(name.substr(prefix.size()), names);
    remarks.push_back(fmt::format("{} is set, and nothing reads it{}", name,
                                  likely.empty() ? "" : fmt::format(": did you mean {}{}?", prefix, likely)));
  }
  return remarks;
}

std::optional<SettingsPath> settings_path(const char* variable, std::string_view name) {
  if (const auto named = environment_text(variable)) {
    if (*named == "off") return std::nullopt;
    return SettingsPath{*named, true};
  }
  if (const auto config = environment_text("XDG_CONFIG_HOME"))
    return SettingsPath{fmt::format("{}/selvage/{}", *config, name)};
  if (const auto home = environment_text("HOME"))
    return SettingsPath{fmt::format("{}/.config/selvage/{}", *home, name)};
  return std::nullopt;
}

}  // namespace selvage
