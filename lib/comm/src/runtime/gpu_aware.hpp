#pragma once

#include <optional>
#include <string>

namespace selvage::detail {

class ContextState;

/// Why MPI had better not be given a device pointer, for all that it says of itself; empty where a try is
/// reasonable. An MPI that takes none reads the pointer as the host's and dies, which can't be caught: a child
/// process can't try in this one's place, because MPI doesn't survive a fork.
///
/// `SELVAGE_GPU_AWARE_MPI`: "no" refuses, "yes" has it tried whatever MPI says.
/// \throws Error{input} for another value
[[nodiscard]] std::string gpu_aware_mpi_doubt();

/// Collective: every rank sends the next one messages from GPU memory to GPU memory, a short and a long one,
/// since MPI moves those in different ways, and compares what has arrived.
/// \return what went wrong here; empty if nothing did
[[nodiscard]] std::string try_messages_between_gpus(ContextState& context);

/// Whether a message of GPU memory between ranks of one host may wait until all kernels have ended: it may go by CUDA IPC,
/// and when an address comes again whose memory was freed, the mapping that was kept of it is closed first.
[[nodiscard]] bool mpi_may_wait_for_kernels();

/// Whether UCX may take CUDA IPC.
/// \param transports  the value of UCX_TLS; nothing: all
[[nodiscard]] bool ucx_takes_cuda_ipc(const std::optional<std::string>& transports);

}  // namespace selvage::detail
