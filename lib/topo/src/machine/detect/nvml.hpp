#pragma once

#include <selvage/topo/gpu.hpp>

#include <memory>
#include <string>
#include <vector>

namespace selvage::topo {

/// NVIDIA's management library, opened at run time: what it is asked, in our types. Calls that older libraries lack, or
/// that a device or a container refuses, give unknown figures with the reason.
class Nvml {
 public:
  using Device = void*;

  /// What peers may do; the values are the library's.
  enum class Capability { read = 0, write = 1, over_nvlink = 2, atomics = 3 };

  /// \throws std::runtime_error when the library can't be opened, lacks a basic function or refuses to start
  explicit Nvml(const char* library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// In the library's order. \throws std::runtime_error
  [[nodiscard]] std::vector<Device> devices() const;
  /// Name, UUID and PCI bus id, nothing else. \throws std::runtime_error
  [[nodiscard]] Gpu identity(Device device) const;

  [[nodiscard]] Figure<std::uint64_t> memory_bytes(Device device) const;
  [[nodiscard]] Figure<std::vector<int>> near_cpus(Device device) const;
  /// The active ones. A device that doesn't know NVLinks has none.
  [[nodiscard]] Figure<std::vector<NvLink>> links(Device device) const;
  [[nodiscard]] Figure<GpuFabric> fabric(Device device) const;
  [[nodiscard]] Figure<CommonAncestor> common_ancestor(Device a, Device b) const;
  [[nodiscard]] Figure<PeerStatus> peer_status(Device a, Device b, Capability capability) const;

 private:
  struct Functions;

  void check(int result, const char* call) const;
  [[nodiscard]] std::string why(int result, const char* call) const;
  [[nodiscard]] NvLink link(Device device, unsigned number) const;
  [[nodiscard]] Figure<double> link_gb_per_s(Device device, unsigned number) const;

  std::unique_ptr<Functions> functions_;
};

}  // namespace selvage::topo
