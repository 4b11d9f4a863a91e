#pragma once

#include <selvage/topo/probe.hpp>

#include <string>

namespace selvage::topo {

/// Measures all pairs of the GPUs that this process sees; not collective. Unknown, with the reason, where that can't be done.
/// \param host  goes into the result
[[nodiscard]] Figure<GpuProbes> probe_gpus(const std::string& host, const ProbeOptions& options);

}  // namespace selvage::topo
