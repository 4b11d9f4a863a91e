#include "proxy.hpp"

#include "device/device.hpp"

#include <selvage/environment.hpp>

#include <exception>
#include <iterator>

namespace selvage::detail {

bool Proxy::may_use_threads() {
  if (environment_word("SELVAGE_PROXY", {"thread", "caller"}) == "caller") return false;
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
  return provided == MPI_THREAD_MULTIPLE;
}

std::string Proxy::refusal(bool on_host) {
  if (on_host) return {};
  const std::string no_thread = thread_refusal();
  return no_thread.empty() ? lazy_loading_refusal() : no_thread;
}

std::string Proxy::thread_refusal() {
  if (may_use_threads()) return {};
  return "the proxy has no thread: MPI was not started with MPI_THREAD_MULTIPLE, or SELVAGE_PROXY=caller";
}

bool PartingCouriers::poll() {
  for (auto courier = couriers_.begin(); courier != couriers_.end();) {
    try {
      static_cast<void>((*courier)->progress());
    } catch (const Error&) {
      courier = couriers_.erase(courier);
      throw;
    }
    courier = (*courier)->is_idle() ? couriers_.erase(courier) : std::next(courier);
  }
  return !couriers_.empty();
}

Proxy::Proxy(ContextState& context, int header_tag)
    : context_(context),
      has_threads_(may_use_threads()),
      header_tag_(header_tag),
      receiver_(context, windows_, header_tag_),
      service_(has_threads_, context.device()) {
  service_.add(receiver_);
  service_.add(parting_);
}

Proxy::~Proxy() {
  service_.remove(parting_);
  service_.remove(receiver_);
}

std::unique_ptr<Courier> Proxy::make_courier(MemoryKind memory) {
  return std::make_unique<Courier>(context_, windows_, header_tag_, context_.take_tags(Courier::tags),
                                   memory);
}

std::unique_ptr<Courier> Proxy::make_message_courier(MemoryKind memory) {
  return std::make_unique<Courier>(context_, windows_, header_tag_, Courier::no_tags, memory);
}

void Proxy::see_off(std::unique_ptr<Courier> courier) {
  // While an exception unwinds, other ranks may never answer.
  if (!courier->serves_windows() || courier->is_idle() || std::uncaught_exceptions() > 0) return;
  courier->disown();
  service_.exclusive([&] { parting_.add(std::move(courier)); });
}

void Proxy::prepare_to_receive(MemoryKind memory) {
  service_.exclusive([&] { receiver_.prepare(memory); });
}

Service& Proxy::helper(int index) {
  while (helpers_.size() <= static_cast<std::size_t>(index)) {
    helpers_.push_back(std::make_unique<Service>(has_threads_, context_.device()));
  }
  return *helpers_[index];
}

void Proxy::progress() {
  service_.progress();
  for (const auto& helper : helpers_) helper->progress();
}

void Proxy::check() {
  service_.check();
  for (const auto& helper : helpers_) helper->check();
}

}  // namespace selvage::detail
