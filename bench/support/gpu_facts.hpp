#pragma once

#include <map>
#include <string>

namespace selvage::bench {

/// "CUDA runtime", "CUDA driver" (the newest CUDA that it knows) and "GPU driver", as far as they are known; empty without GPUs.
[[nodiscard]] std::map<std::string, std::string> gpu_facts();

}  // namespace selvage::bench
