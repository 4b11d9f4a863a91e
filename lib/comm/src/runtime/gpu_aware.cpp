#include "gpu_aware.hpp"

#include "context_state.hpp"
#include "gpu/device.hpp"

#include <selvage/environment.hpp>

#include <fmt/format.h>
#include <link.h>
#include <mpi.h>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cstdint>
#include <string_view>
#include <vector>

namespace selvage::detail {
namespace {

#if defined(MPIX_CUDA_AWARE_SUPPORT)
bool mpi_says_so() {
  return MPIX_Query_cuda_support() == 1;
}
#else
bool mpi_says_so() {
  return false;
}
#endif

bool is_loaded(std::string_view library) {
  const auto has_name = [](dl_phdr_info* info, std::size_t, void* wanted) {
    const std::string_view path = info->dlpi_name;
    return path.find(*static_cast<const std::string_view*>(wanted)) != std::string_view::npos ? 1 : 0;
  };
  return dl_iterate_phdr(has_name, &library) != 0;
}

/// Open MPI's own answer depends on how it was built, so it is "no" even where messages go through a UCX that takes device pointers. It
/// unloads components that it doesn't use, and UCX loads its CUDA component only if it finds a GPU.
bool goes_through_ucx_with_cuda() {
  if (!is_loaded("/mca_pml_ucx.so") || !is_loaded("/libuct_cuda.so")) return false;
  const auto allowed = environment_text("UCX_TLS");
  if (!allowed) return true;
  const bool named = allowed->find("cuda") != std::string::npos || allowed->find("all") != std::string::npos;
  return named != allowed->starts_with('^');
}

std::vector<std::uint64_t> pattern(int rank, std::size_t words) {
  std::vector<std::uint64_t> values(words);
  for (std::size_t i = 0; i < words; ++i) values[i] = (static_cast<std::uint64_t>(rank) << 32) + i + 1;
  return values;
}

std::string try_message(ContextState& context, std::size_t words) {
  const int next = (context.rank() + 1) % context.size();
  const int previous = (context.rank() + context.size() - 1) % context.size();
  const Tags tags = context.lease_tags(1);
  const int tag = tags.first();
  const int bytes = static_cast<int>(words * sizeof(std::uint64_t));
  const Buffer sent = allocate_for_mpi(bytes);
  const Buffer received = allocate_for_mpi(bytes);
  copy_device_bytes(received.data, std::vector<std::uint64_t>(words).data(), bytes);
  copy_device_bytes(sent.data, pattern(context.rank(), words).data(), bytes);
  ContextState::Messages messages;
  messages.memory = {sent.owner, received.owner};
  check_mpi(MPI_Irecv(received.data, bytes, MPI_BYTE, previous, tag, context.comm(), messages.add(previous)),
            "MPI_Irecv into GPU memory");
  check_mpi(MPI_Isend(sent.data, bytes, MPI_BYTE, next, tag, context.comm(), messages.add(next)),
            "MPI_Isend from GPU memory");
  context.wait_messages(messages, "in a message between GPUs");
  std::vector<std::uint64_t> arrived(words);
  copy_device_bytes(arrived.data(), received.data, bytes);
  if (arrived == pattern(previous, words)) return {};
  return fmt::format("a message of {} bytes between GPUs arrived with other bytes", bytes);
}

}  // namespace

std::string gpu_aware_mpi_doubt() {
  const auto opinion = environment_switch("SELVAGE_GPU_AWARE_MPI");
  if (opinion == false) return "SELVAGE_GPU_AWARE_MPI=no";
  if (opinion == true || mpi_says_so() || goes_through_ucx_with_cuda()) return {};
  return "this MPI does not say that it takes device pointers (SELVAGE_GPU_AWARE_MPI=yes has it tried)";
}

bool ucx_takes_cuda_ipc(const std::optional<std::string>& transports) {
  if (!transports) return true;
  const bool is_negated = transports->starts_with('^');
  const std::string names = fmt::format(",{},", transports->substr(is_negated ? 1 : 0));
  const auto has = [&](std::string_view name) {
    return names.find(fmt::format(",{},", name)) != std::string::npos;
  };
  return (has("cuda_ipc") || has("cuda") || has("all")) != is_negated;
}

bool mpi_may_wait_for_kernels() {
  return !goes_through_ucx_with_cuda() || ucx_takes_cuda_ipc(environment_text("UCX_TLS"));
}

std::string try_messages_between_gpus(ContextState& context) {
  constexpr std::size_t short_words = 8;
  constexpr std::size_t long_words = 128 * 1024;
  try {
    std::string failure = try_message(context, short_words);
    return failure.empty() ? try_message(context, long_words) : failure;
  } catch (const Error& error) {
    return error.message();
  }
}

}  // namespace selvage::detail
