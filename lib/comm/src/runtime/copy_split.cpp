#include "copy_split.hpp"

#include <selvage/environment.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

namespace selvage::detail {

CopySplit CopySplit::parse(std::string_view text) {
  if (text == "direct") return {};
  if (text == "dynamic") return {.mode = Mode::dynamic};
  if (text == "auto") return {.mode = Mode::automatic};
  constexpr std::string_view prefix = "static:";
  double share = -1;
  if (text.starts_with(prefix)) {
    const auto [end, error] = std::from_chars(text.data() + prefix.size(), text.data() + text.size(), share);
    if (error != std::errc() || end != text.data() + text.size()) share = -1;
  }
  if (share >= 0 && share <= 1) return {.mode = Mode::fixed, .staged_share = share};
  throw Error(
      ErrorKind::input,
      fmt::format("SELVAGE_COPY_PATHS={}: there are direct, static:SHARE (from 0 to 1), dynamic, auto",
                  text));
}

CopySplit CopySplit::from_environment() {
  CopySplit split = parse(environment_text("SELVAGE_COPY_PATHS").value_or("direct"));
  split.least_bytes = static_cast<std::size_t>(
      environment_integer("SELVAGE_COPY_SPLIT_BYTES", static_cast<std::int64_t>(split.least_bytes), 1,
                          std::numeric_limits<std::int64_t>::max()));
  return split;
}

}  // namespace selvage::detail
