#include "copies/copier.hpp"
#include "device.hpp"
#include "device_allreduce.hpp"
#include "device_line.hpp"
#include "device_peer.hpp"
#include "device_timeline.hpp"
#include "device_transfer.hpp"
#include "tiles/tile_runner.hpp"
#include "transports/copy_engine.hpp"

#include <selvage/error.hpp>

namespace selvage::detail {
namespace {

constexpr const char* no_gpus = "built without a GPU backend";

}  // namespace

int default_device() {
  return no_device;
}
void use_device(int) {}
std::string lazy_loading_refusal() {
  return {};
}
void DeviceScope::enter(int) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
void DeviceScope::leave() noexcept {}
std::optional<int> device_of_memory(const void*) {
  return std::nullopt;
}
std::string device_pci_bus_id(int) {
  return {};
}
bool is_shared_under_mps(int) {
  return false;
}
std::string device_memory_refusal(int) {
  return no_gpus;
}
std::optional<SharedRange> name_device_memory(const void*, std::size_t) {
  return std::nullopt;
}
std::pair<std::byte*, std::shared_ptr<void>> open_device_memory(const std::array<char, 64>&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
Buffer allocate_for_mpi(std::size_t) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
Buffer allocate_page_locked(std::size_t) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::shared_ptr<void> page_lock(std::byte*, std::size_t) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
Buffer allocate_on_device(std::size_t) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
Buffer allocate_device_words(int) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
void copy_device_bytes(void*, const void*, std::size_t) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::string probe_device_word(std::byte*) {
  return no_gpus;
}

std::unique_ptr<BucketTimeline> make_device_timeline(bool) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<AllreduceRunner> make_device_one_shot(const AllreduceParts&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<AllreduceRunner> make_one_shot_ll128(const AllreduceParts&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<AllreduceRunner> make_two_shot_ll128(const AllreduceParts&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<AllreduceRunner> make_two_shot_push(const AllreduceParts&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<AllreduceRunner> make_two_shot_copy_engine(const AllreduceParts&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<AllreduceRunner> make_copy_engine(const AllreduceParts&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<AllreduceRunner> make_device_levels(const AllreduceParts&, const DeviceLevels&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::string nccl_refusal() {
  return no_gpus;
}
std::unique_ptr<TileRunner> make_device_tiles(TileParts&&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<AllreduceRunner> make_multi_ring(const AllreduceParts&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<AllreduceRunner> make_device_two_shot(const AllreduceParts&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<DeviceLine> make_device_line(const ContextState&, const MessageLine&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<Copier> make_device_copier(CopyLane) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<HaloTransport> make_device_peer_transport(TransportParts) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<HaloTransport> make_copy_engine_transport(TransportParts) {
  throw Error(ErrorKind::unsupported, no_gpus);
}

std::unique_ptr<RunCopy> make_device_run_copy(const std::vector<CopyRun>&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}
std::unique_ptr<TransferPath> make_device_peer_transfer(const TransferParts&) {
  throw Error(ErrorKind::unsupported, no_gpus);
}

}  // namespace selvage::detail
