#include "scontrol.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>

namespace selvage::topo::tool {

Printed topology_from_scontrol() {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  FILE* pipe = popen("scontrol show topology 2>/dev/null", "r");
  if (pipe == nullptr) return {.is_there = false, .text = "scontrol can't be started"};
  Printed printed;
  std::array<char, 65536> buffer;
  for (std::size_t bytes; (bytes = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    if (printed.text.size() < most_bytes) printed.text.append(buffer.data(), bytes);
  }
  const int status = pclose(pipe);
  constexpr int not_found = 127;
  if (WIFEXITED(status) && WEXITSTATUS(status) == not_found)
    return {.is_there = false, .text = "there is no scontrol"};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return {.is_there = false, .text = "scontrol show topology failed"};
  if (printed.text.find("Name=") == std::string::npos)
    return {.is_there = false, .text = "scontrol show topology names no switches"};
  printed.is_there = true;
  return printed;
}

}  // namespace selvage::topo::tool
