#pragma once

#include <string>

namespace selvage::topo::tool {

/// What a program printed, or why there is nothing.
struct Printed {
  bool is_there = false;
  std::string text;  ///< the output, or half a sentence
};

/// Runs `scontrol show topology`.
[[nodiscard]] Printed topology_from_scontrol();

}  // namespace selvage::topo::tool
