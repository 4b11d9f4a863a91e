#pragma once

namespace selvage::bench {

/// Adds the version of NCCL that this process has loaded to what the record says of the machine; nothing in a build without.
void record_nccl_version();

}  // namespace selvage::bench
