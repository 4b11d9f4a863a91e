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

// Functions without a parameter for a GPU use the calling thread's current one, which a DeviceScope has set.

/// The GPU that Kokkos was initialised with; no_device without a GPU backend, or before.
[[nodiscard]] int default_device();

/// Makes a GPU the current one of the calling thread until that ends. For the library's own threads. Does nothing for
/// no_device. \throws Error{cuda}
void use_device(int device);

/// The GPU in whose memory `data` lies; nothing for host memory and managed memory. \throws Error{cuda}
[[nodiscard]] std::optional<int> device_of_memory(const void* data);

/// Why kernels can't wait for this process's own threads; empty where they can, and without a GPU backend.
[[nodiscard]] std::string lazy_loading_refusal();

/// The PCI bus id of a GPU; empty for no_device.
[[nodiscard]] std::string device_pci_bus_id(int device);

/// Whether processes share a GPU under MPS. \throws Error{cuda}
[[nodiscard]] bool is_shared_under_mps(int device);

/// Why a GPU's memory can't be shared between processes; empty when it is worth trying.
[[nodiscard]] std::string device_memory_refusal(int device);

/// The name by which another process can map [data, data + bytes) of this GPU; nothing if the allocator can't export memory
/// (cudaMallocAsync, managed memory).
/// \throws Error{cuda}
[[nodiscard]] std::optional<SharedRange> name_device_memory(const void* data, std::size_t bytes);

/// Maps an allocation of another process for the current GPU. \return its address here, and the owner of the mapping, which may be
/// destroyed while any GPU is current. Fails in the process that has allocated the memory. \throws Error{cuda}
[[nodiscard]] std::pair<std::byte*, std::shared_ptr<void>> open_device_memory(
    const std::array<char, 64>& handle);

/// GPU memory for messages of MPI. It is given back to a pool of the process and never to CUDA, because UCX keeps its mappings of other
/// ranks' memory, and CUDA refuses to map new memory at the same address a second time. \throws Error{cuda}
[[nodiscard]] Buffer allocate_for_mpi(std::size_t bytes);

/// Page-locked host memory, which copy engines reach at full speed. \throws Error{cuda}
[[nodiscard]] Buffer allocate_page_locked(std::size_t bytes);

/// Page-locks host memory that is already allocated, and maps it for the GPU, until the result is destroyed.
/// \throws Error{cuda}
[[nodiscard]] std::shared_ptr<void> page_lock(std::byte* data, std::size_t bytes);

/// Allocates zeroed 64-bit words of GPU memory, independent of any execution space instance. \throws Error{cuda}
[[nodiscard]] Buffer allocate_device_words(int count);

/// Copies between host and GPU memory in either direction, and waits until that is done. \throws Error{cuda}
void copy_device_bytes(void* target, const void* source, std::size_t bytes);

/// Stores a word into mapped memory and reads it back. \return what went wrong; empty if nothing did
[[nodiscard]] std::string probe_device_word(std::byte* word);

}  // namespace selvage::detail
