#pragma once

#include <selvage/topo/probe.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace selvage::topo {

/// The part of a probe file that tells of GPUs, by itself.
[[nodiscard]] std::string gpu_probes_to_json(const Figure<GpuProbes>& probes);
/// \param latency_sizes  how many sizes of puts were measured
/// \throws Error{input}
[[nodiscard]] Figure<GpuProbes> gpu_probes_from_json(std::string_view text, std::size_t latency_sizes,
                                                     const std::string& name);

/// The GPUs of some hosts and of another one; the others alone where that one's are unknown.
[[nodiscard]] Figure<GpuProbes> joined(const GpuProbes& some, const Figure<GpuProbes>& another);

}  // namespace selvage::topo
