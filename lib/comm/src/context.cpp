#include "context_state.hpp"

#include <selvage/comm/context.hpp>

namespace selvage {

Context::Context(MPI_Comm comm) : state_(std::make_shared<detail::ContextState>(comm)) {}

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
std::chrono::milliseconds Context::timeout() const {
  return state_->timeout();
}
void* Context::allocate_shared(std::size_t bytes) const {
  return state_->arena().allocate(bytes);
}
void Context::deallocate_shared(void* block) const {
  state_->arena().deallocate(block);
}
LayoutCacheCounters Context::layout_cache_counters() const {
  return state_->layouts().counters();
}

}  // namespace selvage
