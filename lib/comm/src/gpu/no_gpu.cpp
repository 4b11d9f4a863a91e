#include "no_gpu.hpp"

#include "device.hpp"

namespace selvage::detail {

int default_device() {
  return no_device;
}
void use_device(int) {}
std::string lazy_loading_refusal() {
  return {};
}
void DeviceScope::enter(int) {
  refuse_gpus();
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
  refuse_gpus();
}
Buffer allocate_for_mpi(std::size_t) {
  refuse_gpus();
}
Buffer allocate_page_locked(std::size_t) {
  refuse_gpus();
}
std::shared_ptr<void> page_lock(std::byte*, std::size_t) {
  refuse_gpus();
}
Buffer allocate_on_device(std::size_t) {
  refuse_gpus();
}
Buffer allocate_device_words(int) {
  refuse_gpus();
}
void copy_device_bytes(void*, const void*, std::size_t) {
  refuse_gpus();
}
std::string probe_device_word(std::byte*) {
  return no_gpus;
}

}  // namespace selvage::detail
