#include "gpu_facts.hpp"

#include <selvage/error.hpp>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <fstream>
#include <string_view>

namespace selvage::bench {
namespace {

/// 12080 is 12.8.
std::string version_by(cudaError_t (*call)(int*), std::string_view name) {
  int version = 0;
  const cudaError_t code = call(&version);
  if (code != cudaSuccess) {
    throw Error(ErrorKind::cuda, fmt::format("{} failed: {}", name, cudaGetErrorString(code)),
                static_cast<int>(code));
  }
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  ..."
std::string kernel_module() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::map<std::string, std::string> gpu_facts() {
  std::map<std::string, std::string> facts{
      {"CUDA runtime", version_by(cudaRuntimeGetVersion, "cudaRuntimeGetVersion")},
      {"CUDA driver", version_by(cudaDriverGetVersion, "cudaDriverGetVersion")}};
  if (const std::string module = kernel_module(); !module.empty()) facts["GPU driver"] = module;
  return facts;
}

}  // namespace selvage::bench
