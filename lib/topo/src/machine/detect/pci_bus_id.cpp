#include <selvage/topo/machine.hpp>

#include <fmt/format.h>

#include <charconv>

namespace selvage::topo {
namespace {

// A hexadecimal number up to `most` at the front of [begin, end) that `separator` follows; the place behind
// that, or nullptr. A separator of 0 stands for the end.
const char* read_field(const char* begin, const char* end, unsigned most, char separator, unsigned& value) {
  if (begin == nullptr) return nullptr;
  const auto [rest, error] = std::from_chars(begin, end, value, 16);
  if (error != std::errc{} || value > most) return nullptr;
  if (separator == 0) return rest == end ? rest : nullptr;
  return rest != end && *rest == separator ? rest + 1 : nullptr;
}

}  // namespace

std::string normalized_pci_bus_id(const std::string& text) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  const char* end = text.data() + text.size();
  const char* rest = read_field(text.data(), end, 0xffffffff, ':', domain);
  rest = read_field(rest, end, 0xff, ':', bus);
  rest = read_field(rest, end, 0x1f, '.', device);
  rest = read_field(rest, end, 0x7, 0, function);
  if (rest == nullptr) return {};
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

}  // namespace selvage::topo
