#include "gpu/no_gpu.hpp"

#include "copies/copier.hpp"
#include "device_channel.hpp"

namespace selvage::detail {

std::unique_ptr<Copier> make_device_copier(CopyLane) {
  refuse_gpus();
}
std::unique_ptr<DeviceChannel> make_device_channel(const ContextState&, const ProxyChannel&) {
  refuse_gpus();
}

}  // namespace selvage::detail
