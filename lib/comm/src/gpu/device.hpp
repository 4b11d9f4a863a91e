#pragma once

#include "shared_range.hpp"

#include <selvage/comm/detail/device_scope.hpp>
#include <selvage/comm/detail/executor.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace selvage::detail {

// Where no GPU is named, the calling thread's current one is meant: a DeviceScope has chosen it.

/// The GPU that Kokkos was initialised with; no_device without a GPU backend, or before.
[[nodiscard]] int default_device();

/// Makes a GPU the calling thread's current one, for good: for threads of the library's own. Does nothing for
/// no_device. \throws Error{cuda}
void use_device(int device);

/// The GPU that memory lies on; nothing for memory of the host and memory that moves. \throws Error{cuda}
[[nodiscard]] std::optional<int> device_of_memory(const void* data);

/// Why kernels can't wait for this process's own threads; empty where they can, and without a GPU backend.
[[nodiscard]] std::string lazy_loading_refusal();

/// The PCI bus id of a GPU; empty for no_device.
[[nodiscard]] std::string device_pci_bus_id(int device);

/// Whether processes share a GPU under MPS. \throws Error{cuda}
[[nodiscard]] bool is_shared_under_mps(int device);

/// Why a GPU's memory can't be shared between processes; empty when it is worth trying.
[[nodiscard]] std::string device_memory_refusal(int device);

/// What names [data, data + bytes) of this GPU to another process; nothing if the allocator gives no such
/// names (cudaMallocAsync, managed memory).
/// \throws Error{cuda}
[[nodiscard]] std::optional<SharedRange> name_device_memory(const void* data, std::size_t bytes);

/// Maps another process's allocation for the current GPU: where it begins here, and what keeps it mapped,
/// whatever GPU is current when that goes. The process that has allocated it can't. \throws Error{cuda}
[[nodiscard]] std::pair<std::byte*, std::shared_ptr<void>> open_device_memory(
    const std::array<char, 64>& handle);

/// GPU memory that MPI may be given. It goes back to a pool of the process, never to CUDA: MPI through UCX
/// keeps what it has mapped of another rank's memory, and where other memory then takes that place, CUDA
/// refuses to map it a second time. \throws Error{cuda}
[[nodiscard]] Buffer allocate_for_mpi(std::size_t bytes);

/// Page-locked host memory, which copy engines reach at full speed. \throws Error{cuda}
[[nodiscard]] Buffer allocate_page_locked(std::size_t bytes);

/// Page-locks host memory that something else has allocated, and maps it for the GPU, as long as the result lives.
/// \throws Error{cuda}
[[nodiscard]] std::shared_ptr<void> page_lock(std::byte* data, std::size_t bytes);

/// Zeroed 64-bit words of GPU memory, apart from any instance. \throws Error{cuda}
[[nodiscard]] Buffer allocate_device_words(int count);

/// Copies between host and GPU memory, either way, and waits for it. \throws Error{cuda}
void copy_device_bytes(void* target, const void* source, std::size_t bytes);

/// Stores a word into mapped memory and reads it back. \return what went wrong; empty if nothing did
[[nodiscard]] std::string probe_device_word(std::byte* word);

}  // namespace selvage::detail
