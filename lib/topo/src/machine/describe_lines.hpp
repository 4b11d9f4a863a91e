#pragma once

#include <selvage/topo/machine.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace selvage::topo {

/// "80 GiB".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

/// One line of a host's description: the figure and who said so, or why it is unknown.
/// \param text  writes the value
template <typename T, typename Text>
[[nodiscard]] std::string line(const char* label, const Figure<T>& figure, Text text) {
  if (!figure.is_known()) return fmt::format("  {:<18}unknown: {}\n", label, figure.reason());
  return fmt::format("  {:<18}{} [{}]\n", label, text(figure.value()), to_string(figure.source()));
}

/// The GPUs of a host, their links, and a table of what lies between each two.
[[nodiscard]] std::string describe_gpus(const PhysicalHost& host);

}  // namespace selvage::topo
