#include "handles.hpp"

#include <selvage/comm/detail/kokkos_executor.hpp>

namespace selvage::c {
namespace {

thread_local std::string last_message;
bool has_started_kokkos = false;

selvage_context* create_context(MPI_Comm comm, selvage_memory memory, void* stream) {
  if (!Kokkos::is_initialized())
    throw Error(ErrorKind::usage, "Kokkos isn't running: call selvage_initialize() first");
  if (memory == SELVAGE_HOST) {
    if (stream != nullptr)
      throw Error(ErrorKind::usage, "a stream for arrays in host memory, which have none");
    const HostSpace space;
    return new selvage_context{{Context(space, comm), space, std::nullopt}};
  }
  if (memory != SELVAGE_DEVICE)
    throw Error(ErrorKind::usage, "there is no selvage_memory " + std::to_string(static_cast<int>(memory)));
  if constexpr (has_device) {
    const DeviceSpace space =
        stream == nullptr ? DeviceSpace() : detail::instance_of_stream(DeviceSpace(), stream);
    return new selvage_context{{Context(space, comm), HostSpace(), space}};
  } else {
    throw Error(ErrorKind::unsupported, "arrays in a GPU's memory, but Kokkos was built without GPUs");
  }
}

}  // namespace

void keep_message(std::string_view message) noexcept {
  try {
    last_message = message;
  } catch (const std::exception&) {
    last_message.clear();
  }
}

ReduceOperation operation_of(selvage_operation operation) {
  switch (operation) {
    case SELVAGE_SUM:
      return ReduceOperation::sum;
    case SELVAGE_PRODUCT:
      return ReduceOperation::product;
    case SELVAGE_MIN:
      return ReduceOperation::min;
    case SELVAGE_MAX:
      return ReduceOperation::max;
    case SELVAGE_AVERAGE:
      return ReduceOperation::average;
  }
  throw Error(ErrorKind::usage,
              "there is no selvage_operation " + std::to_string(static_cast<int>(operation)));
}

selvage_status status_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::usage:
      return SELVAGE_USAGE;
    case ErrorKind::input:
      return SELVAGE_INPUT;
    case ErrorKind::unsupported:
      return SELVAGE_UNSUPPORTED;
    case ErrorKind::mpi:
      return SELVAGE_MPI;
    case ErrorKind::cuda:
      return SELVAGE_CUDA;
    case ErrorKind::io:
      return SELVAGE_IO;
    case ErrorKind::timeout:
      return SELVAGE_TIMEOUT;
    default:
      return SELVAGE_OTHER;
  }
}

}  // namespace selvage::c

using namespace selvage::c;
using selvage::Error;
using selvage::ErrorKind;

const char* selvage_message(void) {
  return last_message.c_str();
}

selvage_status selvage_initialize(void) {
  return guarded([] {
    if (Kokkos::is_initialized()) return;
    if (Kokkos::is_finalized()) throw Error(ErrorKind::usage, "Kokkos has ended, and can't be started again");
    Kokkos::initialize();
    has_started_kokkos = true;
  });
}

selvage_status selvage_finalize(void) {
  return guarded([] {
    if (!has_started_kokkos) return;
    has_started_kokkos = false;
    if (!Kokkos::is_finalized()) Kokkos::finalize();
  });
}

selvage_status selvage_context_create(MPI_Comm comm, selvage_memory memory, void* stream,
                                      selvage_context** context) {
  return guarded(
      [&] { required(context, "where to put the context") = create_context(comm, memory, stream); });
}
selvage_status selvage_context_create_f(MPI_Fint comm, selvage_memory memory, void* stream,
                                        selvage_context** context) {
  return selvage_context_create(MPI_Comm_f2c(comm), memory, stream, context);
}
void selvage_context_destroy(selvage_context* context) {
  delete context;
}

selvage_status selvage_allocate(const selvage_context* context, size_t bytes, void** memory) {
  return guarded([&] {
    const Place& place = required(context, "the context").place;
    required(memory, "where to put the address") = place.context.allocate_shared(bytes);
  });
}
selvage_status selvage_deallocate(const selvage_context* context, void* memory) {
  return guarded([&] { required(context, "the context").place.context.deallocate_shared(memory); });
}
