#pragma once

#include <functional>

namespace selvage::topo {

/// Whether `work` ends without a crash, an exception or more than ten seconds, found out in a child process, silently.
/// For libraries that trust their input. Nothing that `work` does in memory is seen here; it must not use MPI.
[[nodiscard]] bool ends_well_in_child(const std::function<void()>& work);

}  // namespace selvage::topo
