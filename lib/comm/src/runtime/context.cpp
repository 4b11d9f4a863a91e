#include "context_state.hpp"
#include "gpu/device.hpp"

#include <selvage/agreement.hpp>
#include <selvage/comm/context.hpp>

#include <utility>

namespace selvage {

Context::Context(MPI_Comm comm, const ContextOptions& options)
    : Context(comm, detail::default_device(), {}, options) {}
Context::Context(MPI_Comm comm, int device, std::any space, const ContextOptions& options)
    : state_(std::make_shared<detail::ContextState>(comm, device, std::move(space), options)) {}

int Context::rank() const {
  return state_->rank();
}
int Context::size() const {
  return state_->size();
}
MPI_Comm Context::comm() const {
  return state_->users_comm();
}
const topo::Machine& Context::machine() const {
  return state_->machine();
}
int Context::device() const {
  return state_->device();
}
const std::any& Context::space() const {
  return state_->space();
}
std::chrono::milliseconds Context::timeout() const {
  return state_->timeout();
}
std::chrono::milliseconds Context::setup_timeout() const {
  return state_->setup_timeout();
}
void Context::agree(std::string_view what, const std::function<void()>& work) const {
  together_naming(comm(), what, work, timeout().count());
}
void* Context::allocate_shared(std::size_t bytes) const {
  return state_->arena().allocate(bytes);
}
void Context::deallocate_shared(void* block) const {
  state_->arena().deallocate(block);
}

}  // namespace selvage
