#pragma once

#include <selvage/topo/machine.hpp>

#include <optional>
#include <string>
#include <vector>

namespace selvage::detail {

/// What to say where the OpenMP threads of a rank's host outnumber the processors that its ranks may use: a thread that
/// waits for the others of its team spins, and keeps from a core the one that it waits for. Empty where there is no need.
/// \param threads      of each rank
/// \param wait_policy  the value of OMP_WAIT_POLICY
[[nodiscard]] std::string remark_on_threads(const topo::Machine& machine, int rank, int threads,
                                            const std::optional<std::string>& wait_policy);

/// What to say where CUDA gives a process few queues to its GPU: streams that are busy at a time share them, and a copy may
/// stand behind the kernel that waits for it until the time is up. Empty where there is no need.
/// \param connections  the value of CUDA_DEVICE_MAX_CONNECTIONS
/// \param is_shared    whether processes share the GPU under MPS, which gives each of them fewer by itself
[[nodiscard]] std::string remark_on_queues(const std::optional<std::string>& connections, bool is_shared);

/// What a user had better know of how a process was started: variables that nothing reads, threads that wait for each other's
/// cores, and too few queues to a GPU. Nothing for its second Context. For rank 0 to call.
/// \param device  the Context's
[[nodiscard]] std::vector<std::string> start_remarks(const topo::Machine& machine, int rank, int device);

}  // namespace selvage::detail
