#include "names.hpp"

#include <selvage/topo/gpu.hpp>

#include <cstddef>

namespace selvage::topo {
namespace {

template <NamedEnum Enum>
std::string_view name(Enum value) {
  static constexpr auto names = names_of(Enum{});
  return names.at(static_cast<std::size_t>(value));
}

}  // namespace

std::string_view to_string(Source source) {
  return name(source);
}

std::string_view to_string(GpuLevel level) {
  return name(level);
}

std::string_view to_string(LinkEnd end) {
  return name(end);
}

std::string_view to_string(PeerStatus status) {
  return name(status);
}

std::string_view to_string(CommonAncestor ancestor) {
  return name(ancestor);
}

}  // namespace selvage::topo
