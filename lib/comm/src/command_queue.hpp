#pragma once

#include "proxy.hpp"

#include <selvage/comm/detail/command_port.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace selvage::detail {

/// One ring as its service thread sees it.
struct CommandRing {
  const Command* slots = nullptr;
  std::uint64_t* read = nullptr;  ///< published: commands done with
  std::uint64_t done = 0;         ///< what *read says
  std::uint64_t underway = 0;     ///< transfers that have not happened at their target
  bool is_held = false;           ///< by a blocking command that is underway
};

/// The rings that one service thread looks after, in turn (LeBeane, 5.3.1). A blocking command is started like
/// any other and its ring held until it is complete, so that other rings are served meanwhile; a quiet holds
/// its ring until that ring's own transfers are done.
class CommandService final : public Pollable, private TransferWatcher {
 public:
  /// \param window  null: its rings carry messages only
  CommandService(const WindowState* window, std::unique_ptr<Courier> courier, std::uint64_t capacity,
                 MemoryKind message_memory)
      : window_(window), courier_(std::move(courier)), capacity_(capacity), message_memory_(message_memory) {}

  void add(const Command* slots, std::uint64_t* read);
  [[nodiscard]] bool is_idle() const { return courier_->is_idle(); }
  bool poll() override;

 private:
  void local_done(std::uint64_t cookie) override;
  void remote_done(std::uint64_t cookie) override;
  /// A transfer that is underway, by cookie.
  struct Underway {
    std::size_t ring = 0;
    bool is_blocking = false;
    std::uint64_t* done = nullptr;  ///< becomes `value` when the local buffer is free, or filled
    std::uint64_t value = 0;
  };

  bool serve(std::size_t index);
  void start(const Command& command, std::size_t index);
  [[nodiscard]] NetworkOperation operation_of(const Command& command) const;
  [[nodiscard]] std::uint64_t keep(const Underway& transfer);
  void finish(CommandRing& ring);

  const WindowState* window_;
  std::unique_ptr<Courier> courier_;
  std::uint64_t capacity_;
  MemoryKind message_memory_;
  std::vector<CommandRing> rings_;
  std::vector<Underway> underway_;
  std::vector<std::uint64_t> free_cookies_;
};

/// The memory of all rings, and the services that share them out.
class CommandRings {
 public:
  struct Sizes {
    int rings = 1;
    std::uint64_t capacity = 64;
    int service_threads = 1;
    MemoryKind message_memory = MemoryKind::host;  ///< where messages to mapped memory are copied
  };
  /// Collective by convention with a window: takes message tags.
  /// \param window  null: the rings carry messages only
  /// \throws Error{usage}
  CommandRings(ContextState& context, const Executor& executor, const Sizes& sizes,
               const WindowState* window);
  ~CommandRings();
  CommandRings(const CommandRings&) = delete;
  CommandRings& operator=(const CommandRings&) = delete;

  [[nodiscard]] const CommandPort& port() const { return port_; }
  [[nodiscard]] bool has_threads() const { return proxy_.has_threads(); }
  void progress() { proxy_.progress(); }
  void check() { proxy_.check(); }
  /// Whether nothing that was issued is underway.
  [[nodiscard]] bool is_idle();

 private:
  Proxy& proxy_;
  Buffer kernel_memory_;
  Buffer host_memory_;
  CommandPort port_;
  std::vector<std::unique_ptr<CommandService>> services_;
};

}  // namespace selvage::detail
