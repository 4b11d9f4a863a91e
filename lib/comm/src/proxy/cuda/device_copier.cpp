#include "engine_stream.hpp"
#include "gpu/cuda/check.hpp"
#include "gpu/cuda/stream.hpp"
#include "proxy/copies/copier.hpp"

#include <cuda.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

/// Events made beforehand. Each copy that is underway may need one; rings usually hold fewer.
constexpr int events_at_first = 256;

/// The stream of a lane on the current GPU, which exists as long as a copier uses it. A GPU has few queues (CUDA_DEVICE_MAX_CONNECTIONS: 8
/// by default, 2 under MPS). If more streams are busy, they share queues, and a copy could be queued behind the kernel that waits for it.
/// Therefore all copiers share few streams, none of which ever waits for a kernel.
std::shared_ptr<const Stream> stream_of(CopyLane lane) {
  static std::mutex mutex;
  static std::map<std::pair<int, CopyLane>, std::weak_ptr<const Stream>> streams;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  const std::lock_guard lock(mutex);
  std::weak_ptr<const Stream>& known = streams[{device, lane}];
  std::shared_ptr<const Stream> stream = known.lock();
  if (!stream) {
    stream = std::make_shared<const Stream>(true);
    known = stream;
  }
  return stream;
}

/// Copies on a stream that no Kokkos instance uses, with the highest priority because kernels wait for the copies. The stream and its events
/// are made before any kernel waits, because making them may block while a kernel runs.
class DeviceCopier final : public Copier {
 public:
  explicit DeviceCopier(CopyLane lane) : shared_(stream_of(lane)), stream_(shared_->get()) {
    for (int i = 0; i < events_at_first; ++i) spare_.push_back(make_event());
  }
  ~DeviceCopier() override {
    cudaStreamSynchronize(stream_);
    for (const Mark& mark : marks_) cudaEventDestroy(mark.event);
    for (const cudaEvent_t event : spare_) cudaEventDestroy(event);
  }

  void copy(std::byte* target, const std::byte* source, std::size_t bytes) override {
    if (bytes == 0) return;
    check_cuda(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream_), "cudaMemcpyAsync");
  }

  /// Copies between host and GPU memory. Never by a kernel, which might find no free multiprocessor beside kernels that wait.
  void copy(const CopyBox& box) override {
    scratch_.clear();
    append_engine_copies(box, scratch_);
    for (const EngineCopy& part : scratch_) enqueue(part, stream_);
  }

  /// The stream writes the word, after a fence at system scope.
  void release(std::uint64_t& word, std::uint64_t value) override {
    check_driver(cuStreamWriteValue64(stream_, reinterpret_cast<CUdeviceptr>(&word), value,
                                      CU_STREAM_WRITE_VALUE_DEFAULT),
                 "cuStreamWriteValue64");
  }

  [[nodiscard]] std::uint64_t mark() override {
    if (spare_.empty()) spare_.push_back(make_event());
    const cudaEvent_t event = spare_.back();
    spare_.pop_back();
    check_cuda(cudaEventRecord(event, stream_), "cudaEventRecord");
    marks_.push_back({++last_ticket_, event});
    return last_ticket_;
  }

  /// Tickets are completed in order, as the stream is.
  [[nodiscard]] bool has_done(std::uint64_t ticket) override {
    while (!marks_.empty() && marks_.front().ticket <= ticket) {
      const cudaError_t code = cudaEventQuery(marks_.front().event);
      if (code == cudaErrorNotReady) return false;
      check_cuda(code, "cudaEventQuery");
      spare_.push_back(marks_.front().event);
      marks_.pop_front();
    }
    return true;
  }

 private:
  struct Mark {
    std::uint64_t ticket;
    cudaEvent_t event;
  };

  static void check_driver(CUresult code, std::string_view call) {
    if (code == CUDA_SUCCESS) return;
    throw Error(ErrorKind::cuda, fmt::format("{} failed with CUresult {}", call, int{code}), code);
  }
  static cudaEvent_t make_event() {
    cudaEvent_t event = nullptr;
    check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    return event;
  }

  std::shared_ptr<const Stream> shared_;
  cudaStream_t stream_;
  std::uint64_t last_ticket_ = 0;
  std::deque<Mark> marks_;
  std::deque<cudaEvent_t> spare_;
  std::vector<EngineCopy> scratch_;
};

}  // namespace

std::unique_ptr<Copier> make_device_copier(CopyLane lane) {
  return std::make_unique<DeviceCopier>(lane);
}

}  // namespace selvage::detail
