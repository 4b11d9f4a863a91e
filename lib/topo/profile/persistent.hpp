#pragma once

#include "recorder.hpp"

#include <mpi.h>

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace selvage::profile {

struct PersistentSend {
  int peer = -1;
  Memory memory = Memory::host;
  std::uint64_t bytes = 0;
};

/// What the requests of MPI_Send_init and its kind will send at each start.
class PersistentSends {
 public:
  void insert(MPI_Request request, const PersistentSend& send) {
    const std::unique_lock lock(mutex_);
    sends_.insert_or_assign(request, send);
  }

  void forget(MPI_Request request) {
    const std::unique_lock lock(mutex_);
    sends_.erase(request);
  }

  void started(int count, const MPI_Request* requests) {
    const std::shared_lock lock(mutex_);
    for (int i = 0; i < count; ++i) {
      const auto found = sends_.find(requests[i]);
      if (found == sends_.end()) continue;  // a receive
      recorder.add(Direction::sent, found->second.peer, found->second.memory, found->second.bytes);
    }
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<MPI_Request, PersistentSend> sends_;
};

inline PersistentSends& persistent_sends() {
  // Never destroyed: MPI may be called after the destructors of this library.
  static auto* const sends = new PersistentSends;
  return *sends;
}

}  // namespace selvage::profile
