#pragma once

#include <selvage/topo/machine.hpp>

#include <string>
#include <string_view>

namespace selvage::topo {

// Machines from files of other tools, to look at and to place ranks on. Their ranks are pretended: one per GPU, or one per
// core on hosts without GPUs, in the order of the file. Figures that come from the file have Source::file; what it doesn't
// tell is unknown.

/// From what to_json(Machine) wrote, hwloc's XML or NCCL's: the text tells which.
/// \throws Error{input} when the file can't be read or is none of them; Error{unsupported}
[[nodiscard]] Machine machine_from_file(const std::string& path);

/// One host from hwloc's XML (`lstopo --of xml`). GPUs are PCI devices with a GPU's OS device, or 3D controllers; NVLinks
/// come from its matrix of bandwidths, in which one entry stands for all links between two GPUs.
/// \param name  what errors call the text, such as the file's name
/// \throws Error{input} when hwloc can't read the text; Error{unsupported} when built without hwloc
[[nodiscard]] Machine machine_from_hwloc_xml(std::string_view text, const std::string& name);

/// The hosts of NCCL's topology XML (what NCCL_TOPO_DUMP_FILE writes, NCCL_TOPO_FILE reads).
/// \param name  what errors call the text
/// \throws Error{input} when it is not that; Error{unsupported} when built without pugixml
[[nodiscard]] Machine machine_from_nccl_xml(std::string_view text, const std::string& name);

}  // namespace selvage::topo
