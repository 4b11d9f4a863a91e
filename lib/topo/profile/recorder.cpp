#include "recorder.hpp"

namespace selvage::profile {
namespace {

thread_local bool started_mpi __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

// Zeros from the start, without a constructor: MPI may be called while other libraries are still being initialised.
constinit Recorder recorder;

void Recorder::start(Part part, bool threads) {
  part_ = part;
  threads_ = threads;
  started_mpi = true;
  active_.store(true, std::memory_order_release);
}

void Recorder::stop() {
  active_.store(false, std::memory_order_release);
}

void Recorder::add(Direction direction, int peer, Memory memory, std::uint64_t bytes) const {
  if (peer < 0) return;
  increase(part_.row(direction, memory, Quantity::bytes)[peer], bytes);
  increase(part_.row(direction, memory, Quantity::messages)[peer], 1);
  increase(part_.header().histograms[static_cast<int>(memory)][histogram_bin(bytes)], 1);
}

void Recorder::add_time(std::uint64_t start_ticks, std::uint64_t end_ticks, unsigned calls) const {
  // With several threads in MPI at a time, sums of their times mean little: the thread that started MPI stands for all.
  if (threads_ && !started_mpi) return;
  increase(part_.header().mpi_ticks, (end_ticks - start_ticks) * calls);
  part_.header().last_ticks.store(end_ticks, std::memory_order_relaxed);
}

}  // namespace selvage::profile
