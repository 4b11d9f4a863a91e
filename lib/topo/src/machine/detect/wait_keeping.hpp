#pragma once

#include "records.hpp"

#include <memory>

namespace selvage::topo {

/// Waits for what every rank tells of itself. Where that is given up the buffers stay, since MPI still uses them.
template <class Buffers>
void wait_keeping(std::unique_ptr<Buffers>& buffers, MPI_Request& request, const Wait& wait) {
  try {
    wait(request, "the search for the hosts of the job");
  } catch (...) {
    static_cast<void>(buffers.release());
    throw;
  }
}

}  // namespace selvage::topo
