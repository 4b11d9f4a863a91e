#include "collectives/tiles/tile_runner.hpp"
#include "device_collective.hpp"
#include "gpu/cuda/stream.hpp"
#include "gpu/device.hpp"

#include <selvage/environment.hpp>

#include <algorithm>
#include <utility>

namespace selvage::detail {
namespace {

/// Why a kernel can't wait for another one of this process; empty where it can.
std::string refuse_waiting() {
  const auto blocking = environment_text("CUDA_LAUNCH_BLOCKING");
  if (blocking && *blocking != "0") return "CUDA_LAUNCH_BLOCKING ends a kernel before the next one begins";
  return lazy_loading_refusal();
}

class DeviceTiles final : public TileRunner, private DeviceProgram {
 public:
  explicit DeviceTiles(TileParts&& parts)
      : DeviceProgram(parts.allreduce, tiles_kernel(), all_ranks(parts.allreduce)),
        views_(std::move(parts.views)),
        refusal_(refuse_waiting()),
        side_(true) {
    const std::vector<int> ranks = all_ranks(parts.allreduce);
    program_.threads = most_allreduce_threads;
    program_.blocks = static_cast<int>(
        std::clamp<std::int64_t>(parts.tiles_of(0), 1, blocks_beside_publishers(parts.allreduce.context)));
    program_.tile_elements = parts.tile_elements;
    const std::size_t flags = static_cast<std::size_t>(program_.blocks * program_.ranks);
    flags_ = PeerBlocks(parts.allreduce.context, parts.allreduce.executor, ranks,
                        (parts.most_flags() + flags) * sizeof(Flag), collective_construction);
    program_.is_aligned = true;
    std::vector<Flag*> owners;
    for (int rank = 0; rank < program_.ranks; ++rank) {
      program_.elements[rank] = views_.of(rank);
      program_.is_aligned = program_.is_aligned && is_aligned(views_.of(rank));
      owners.push_back(reinterpret_cast<Flag*>(flags_.of(rank)));
      program_.done[rank] = owners.back() + parts.most_flags();
    }
    program_.published = owners[static_cast<std::size_t>(program_.rank)];
    owners_ = DeviceArray<Flag*>(owners);
    load();
  }

  [[nodiscard]] Flag* const* owners() const override { return owners_.data(); }
  [[nodiscard]] const std::uint64_t* epoch() const override { return &program_.state->finished; }

  void start(Executor& executor) override {
    if (!refusal_.empty()) return;
    side_.fork(static_cast<cudaStream_t>(executor.stream()));
    kernel_.launch(program_, side_.get());
  }
  void finish(Executor& executor) override {
    const auto stream = static_cast<cudaStream_t>(executor.stream());
    if (refusal_.empty()) {
      side_.join(stream);
    } else {
      kernel_.launch(program_, stream);
    }
  }
  bool progress() override { return true; }
  [[nodiscard]] std::string describe_late() const override { return "a kernel to be enqueued"; }
  void check() const override { throw_if_late(); }
  [[nodiscard]] std::string describe() const override {
    if (refusal_.empty())
      return fmt::format("{} blocks combine tiles while kernels still run", program_.blocks);
    return "tiles are combined behind the kernels that publish them: " + refusal_;
  }

 private:
  /// They wait for kernels that start later, and fill the multiprocessors that they are on.
  [[nodiscard]] int blocks_beside_publishers(ContextState& context) const {
    const int half = std::max(1, attribute(cudaDevAttrMultiProcessorCount) / 2);
    return smallest_everywhere(context, std::min(most_blocks_, half));
  }

  PeerBlocks views_;
  PeerBlocks flags_;
  DeviceArray<Flag*> owners_;
  std::string refusal_;
  SideStream side_;
};

}  // namespace

std::unique_ptr<TileRunner> make_device_tiles(TileParts&& parts) {
  return std::make_unique<DeviceTiles>(std::move(parts));
}

}  // namespace selvage::detail
