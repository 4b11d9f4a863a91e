#include "gpu/no_gpu.hpp"

#include "algorithms/device_allreduce.hpp"
#include "buckets/device_timeline.hpp"
#include "tiles/tile_runner.hpp"

namespace selvage::detail {

std::unique_ptr<BucketTimeline> make_device_timeline(bool) {
  refuse_gpus();
}
std::unique_ptr<AllreduceRunner> make_device_allreduce(AllreduceAlgorithm, const AllreduceParts&) {
  refuse_gpus();
}
std::unique_ptr<AllreduceRunner> make_device_levels(const AllreduceParts&, const DeviceLevels&) {
  refuse_gpus();
}
std::unique_ptr<TileRunner> make_device_tiles(TileParts&&) {
  refuse_gpus();
}
std::string nccl_refusal() {
  return no_gpus;
}

}  // namespace selvage::detail
