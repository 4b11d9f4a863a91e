#pragma once

namespace selvage::bench {

/// What MPI sees of GPU memory in an exchange written by hand: a copy in pinned host memory, or the packed buffer itself. On
/// hosts there is no difference.
enum class Messages { staged, direct };

}  // namespace selvage::bench
