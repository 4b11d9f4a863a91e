#include "copier.hpp"
#include "runtime/wait.hpp"

#include <selvage/comm/detail/host_copy.hpp>
#include <selvage/comm/detail/signal.hpp>
#include <selvage/error.hpp>

#include <cstring>

namespace selvage::detail {
namespace {

class HostCopier final : public Copier {
 public:
  void copy(std::byte* target, const std::byte* source, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(target, source, bytes);
  }
  void copy(const CopyBox& box) override { copy_rows_on_host(box, 0, row_count(box)); }
  // Publishes the copies before it.
  void release(std::uint64_t& word, std::uint64_t value) override { release_word(word, value); }
  [[nodiscard]] std::uint64_t mark() override { return 0; }
  [[nodiscard]] bool has_done(std::uint64_t) override { return true; }
};

}  // namespace

bool retire(std::unique_ptr<Copier> copier, std::chrono::milliseconds longest) noexcept {
  if (!copier) return true;
  try {
    const std::uint64_t ticket = copier->mark();
    Deadline deadline(longest);
    bool is_done = copier->has_done(ticket);
    for (; !is_done && !deadline.passed(); is_done = copier->has_done(ticket)) yield_core();
    if (is_done) return true;
  } catch (const Error&) {
    // A GPU that answers no more may still copy.
  }
  static_cast<void>(copier.release());
  return false;
}

std::unique_ptr<Copier> make_host_copier() {
  return std::make_unique<HostCopier>();
}

}  // namespace selvage::detail
