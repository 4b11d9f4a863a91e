#pragma once

#include "gpu/cuda/device_memory.hpp"
#include "layouts/copy_runs.hpp"
#include "run_kernels.hpp"

#include <cstdint>
#include <vector>

namespace selvage::detail {

/// The runs to all partners and what each block of threads does with them.
class RunTable {
 public:
  /// \param placed  with the addresses of both sides added
  /// \return how many blocks of threads put to this partner
  std::uint64_t add(const std::vector<CopyRun>& placed, std::uint32_t peer);
  /// A block that has nothing to copy, for a partner that waits all the same.
  void add_empty(std::uint32_t peer) { chunks_.push_back({0, 0, 0, 0, peer, false}); }
  /// Into this GPU's memory, where it lies as long as this lives. \throws Error{cuda}
  [[nodiscard]] RunProgram upload();

 private:
  void add_kind(const std::vector<CopyRun>& runs, std::uint32_t peer, bool by_warp);
  void cut_chunks(std::size_t first_run, std::uint64_t items, std::uint32_t peer, bool by_warp);

  std::vector<DeviceRun> runs_;
  std::vector<RunChunk> chunks_;
  DeviceArray<DeviceRun> device_runs_;
  DeviceArray<RunChunk> device_chunks_;
};

}  // namespace selvage::detail
