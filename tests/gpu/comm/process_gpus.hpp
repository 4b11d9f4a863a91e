#pragma once

#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/device_scope.hpp>

#include <Kokkos_Core.hpp>
#include <cuda_runtime_api.h>
#include <mpi.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace selvage::test {

inline void require(cudaError_t code, const char* call) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(code));
}

inline int current_device() {
  int device = -1;
  require(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

/// One of several GPUs of this process: a stream there, Kokkos's instance on it, and a Context that spans the
/// GPU of this index of every process.
class ProcessGpu {
 public:
  ProcessGpu(int index, int device) : index_(index), device_(device) {
    const detail::DeviceScope scope(device);
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    space_ = std::make_unique<Kokkos::Cuda>(stream_);
    context_ = std::make_unique<Context>(*space_, MPI_COMM_WORLD);
  }
  ProcessGpu(const ProcessGpu&) = delete;
  ProcessGpu& operator=(const ProcessGpu&) = delete;
  ~ProcessGpu() {
    context_.reset();
    space_.reset();
    cudaStreamDestroy(stream_);
  }

  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] const Kokkos::Cuda& space() const { return *space_; }
  [[nodiscard]] const Context& context() const { return *context_; }
  [[nodiscard]] std::string text() const {
    return "rank " + std::to_string(context_->rank()) + ", Context " + std::to_string(index_) + " on GPU " +
           std::to_string(device_);
  }

 private:
  int index_;
  int device_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<Kokkos::Cuda> space_;
  std::unique_ptr<Context> context_;
};

/// Two GPUs per process: of its own where the host has so many, else shared with other processes.
class ProcessGpus {
 public:
  static constexpr int count = 2;

  /// Why this can't be made, the same on all ranks; empty if it can. Collective.
  [[nodiscard]] static std::string missing() {
    int devices = visible();
    MPI_Allreduce(MPI_IN_PLACE, &devices, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (devices >= count) return {};
    return "needs " + std::to_string(count) + " GPUs that each process can use, and some process sees " +
           std::to_string(devices);
  }

  /// Collective.
  ProcessGpus() {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int process = 0;
    MPI_Comm_rank(host, &process);
    MPI_Comm_free(&host);
    for (int index = 0; index < count; ++index)
      gpus_.push_back(std::make_unique<ProcessGpu>(index, (process * count + index) % visible()));
  }

  [[nodiscard]] const ProcessGpu& at(int index) const { return *gpus_[static_cast<std::size_t>(index)]; }

 private:
  static int visible() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) return 0;
    return devices;
  }

  std::vector<std::unique_ptr<ProcessGpu>> gpus_;
};

}  // namespace selvage::test
