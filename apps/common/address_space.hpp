#pragma once

#include <optional>
#include <string>

namespace selvage::app {

struct StartRefusal {
  int rank;  ///< what the launcher says, before MPI does; 0 where none says it
  std::string why;
};

/// Whether this process has too little address space to be a rank. Asked before MPI begins.
[[nodiscard]] std::optional<StartRefusal> address_space_refusal();

}  // namespace selvage::app
