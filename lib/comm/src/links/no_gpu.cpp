#include "gpu/no_gpu.hpp"

#include "copy_engine.hpp"
#include "device_peer.hpp"

namespace selvage::detail {

std::unique_ptr<Link> make_device_peer_transport(TransportParts) {
  refuse_gpus();
}
std::unique_ptr<Link> make_copy_engine_transport(TransportParts) {
  refuse_gpus();
}

}  // namespace selvage::detail
