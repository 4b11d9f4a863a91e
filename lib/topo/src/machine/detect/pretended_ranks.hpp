#pragma once

#include "records.hpp"

#include <string>
#include <vector>

namespace selvage::topo {

using CpuList = std::vector<int>;

/// A host as a file describes it.
struct HostOfFile {
  std::string name;
  HostInventory inventory;
};

/// A machine of these hosts with a rank per GPU, near which it runs, or per core where there are no GPUs.
/// \param name  what errors call the file
/// \throws Error{input} when a host has neither GPUs nor cores, or the file more of them than a fabric can have slots
[[nodiscard]] Machine machine_with_pretended_ranks(const std::vector<HostOfFile>& hosts,
                                                   const std::string& name);

}  // namespace selvage::topo
