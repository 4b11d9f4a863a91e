#include "gpu/no_gpu.hpp"

#include "device_transfer.hpp"

namespace selvage::detail {

std::unique_ptr<Link> make_device_peer_transfer(const TransferParts&) {
  refuse_gpus();
}

}  // namespace selvage::detail
