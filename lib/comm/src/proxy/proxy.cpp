#include "proxy.hpp"

#include "gpu/device.hpp"

#include <selvage/comm/detail/device_scope.hpp>
#include <selvage/comm/detail/launch_setup.hpp>

#include <exception>
#include <iterator>
#include <memory>

namespace selvage::detail {

std::string Proxy::refusal(const std::string& threads_refusal, bool on_host) {
  if (on_host) return {};
  return threads_refusal.empty() ? lazy_loading_refusal() : threads_refusal;
}

bool DrainingSenders::poll() {
  for (auto sender = senders_.begin(); sender != senders_.end();) {
    try {
      static_cast<void>((*sender)->progress());
    } catch (const Error&) {
      sender = senders_.erase(sender);
      throw;
    }
    sender = (*sender)->is_idle() ? senders_.erase(sender) : std::next(sender);
  }
  return !senders_.empty();
}

Proxy::Proxy(ContextState& context, int header_tag)
    : context_(context),
      has_threads_(context.threads_refusal().empty()),
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

std::unique_ptr<ProxySender> Proxy::make_sender(MemoryKind memory) {
  return std::make_unique<ProxySender>(context_, windows_, header_tag_,
                                       context_.lease_tags(ProxySender::tags), memory);
}

std::unique_ptr<ProxySender> Proxy::make_message_sender(MemoryKind memory) {
  return std::make_unique<ProxySender>(context_, windows_, header_tag_, Tags(), memory);
}

void Proxy::drain(std::unique_ptr<ProxySender> sender) {
  // While an exception unwinds, other ranks may never answer.
  if (!sender->serves_windows() || sender->is_idle() || std::uncaught_exceptions() > 0) return;
  sender->disown();
  service_.exclusive([&] { parting_.add(std::move(sender)); });
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

Proxy& proxy_of(ContextState& context) {
  return context.kept<Proxy>("proxy", [&] {
    if (context.device() != no_device) {
      const DeviceScope scope(context.device());
      set_up_launches();
    }
    return std::make_shared<Proxy>(context, context.service_tag());
  });
}

}  // namespace selvage::detail
