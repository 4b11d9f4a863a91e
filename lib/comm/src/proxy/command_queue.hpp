#pragma once

#include "command_fetch.hpp"
#include "proxy.hpp"

#include <selvage/comm/command_port.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace selvage::detail {

/// One ring as its service thread sees it.
struct CommandRing {
  int index = 0;                   ///< among all rings of the queue
  const Command* slots = nullptr;  ///< in host memory: written by kernels, or fetched
  std::uint64_t* read = nullptr;   ///< commands that are done, for the kernels that write new ones
  std::uint64_t done = 0;          ///< the value last written to *read
  std::uint64_t underway = 0;      ///< transfers that are not complete at their target
  bool is_held = false;            ///< a blocking command is underway, or a command has failed
};

/// The rings that one service thread serves in turn (LeBeane, 5.3.1). A blocking command starts like any other; its ring is then
/// held until the command is complete, while other rings are served. A quiet command holds its ring until the ring's own transfers are
/// complete.
class CommandService final : public Pollable, private TransferWatcher {
 public:
  static constexpr int no_window = -1;

  /// \param window  id; no_window: its rings carry messages only
  CommandService(const ContextState& context, int window, std::unique_ptr<ProxySender> sender,
                 std::uint64_t capacity, MemoryKind message_memory)
      : context_(context),
        window_(window),
        sender_(std::move(sender)),
        capacity_(capacity),
        message_memory_(message_memory) {}

  /// For slots in GPU memory. Call it before any add().
  void set_fetch(std::unique_ptr<CommandFetch> fetch) { fetch_ = std::move(fetch); }
  /// \param slots  in host memory; not used where they are fetched
  void add(int ring, const Command* slots, std::uint64_t* read);
  [[nodiscard]] bool is_idle() const { return sender_->is_idle(); }
  bool poll() override;
  /// Ends the rings: starts the puts that are left in them, and prints those that can't be started. This object must not be polled
  /// afterwards. \return the sender that carries the puts
  [[nodiscard]] std::unique_ptr<ProxySender> release(std::chrono::milliseconds longest);
  /// Call it after release(). \return false when slots may still be fetched: the rings' memory must then never be freed
  [[nodiscard]] bool end_fetch(std::chrono::milliseconds longest) noexcept {
    return !fetch_ || fetch_->end(longest);
  }

 private:
  void local_done(std::uint64_t cookie) override;
  void remote_done(std::uint64_t cookie) override;
  /// A transfer that is underway. Found by its cookie.
  struct Underway {
    std::size_t ring = 0;
    bool is_blocking = false;
    std::uint64_t* done = nullptr;  ///< set to `value` when the local buffer is free (put) or filled (get)
    std::uint64_t value = 0;
  };

  void conclude_failed();
  bool serve(std::size_t index);
  [[nodiscard]] bool has_next(const CommandRing& ring, const Command& slot) const;
  void start(const Command& command, std::size_t index);
  void fetch_rest(std::chrono::milliseconds longest) const;
  void start_put(const Command& command);
  [[nodiscard]] NetworkOperation operation_of(const Command& command) const;
  [[nodiscard]] std::uint64_t keep(const Underway& transfer);
  void finish(CommandRing& ring);

  const ContextState& context_;
  int window_;
  std::unique_ptr<ProxySender> sender_;
  std::uint64_t capacity_;
  MemoryKind message_memory_;
  std::unique_ptr<CommandFetch> fetch_;  ///< null where kernels write to host memory
  std::vector<CommandRing> rings_;
  std::vector<Underway> underway_;
  std::vector<std::uint64_t> free_cookies_;
  std::vector<std::size_t> failed_;  ///< rings whose last command could not be started, still to be concluded
};

/// The memory of all rings, and the services among which they are divided.
class CommandRings {
 public:
  struct Sizes {
    int rings = 1;
    std::uint64_t capacity = 64;
    int service_threads = 1;
    MemoryKind message_memory = MemoryKind::host;  ///< where messages to mapped memory are copied
    std::optional<bool> slots_on_device = {};      ///< as of CommandQueue::Options
  };
  /// \throws Error{usage}
  static void require_valid(const Sizes& sizes);
  /// With a window all ranks must call it in the same order, because it takes message tags.
  /// \param window  null: the rings carry messages only
  /// \throws Error{usage}, Error{input}
  CommandRings(ContextState& context, const Executor& executor, const Sizes& sizes,
               const WindowState* window);
  ~CommandRings();
  CommandRings(const CommandRings&) = delete;
  CommandRings& operator=(const CommandRings&) = delete;

  [[nodiscard]] const CommandPort& port() const { return port_; }
  [[nodiscard]] bool has_threads() const { return proxy_.has_threads(); }
  void progress() { proxy_.progress(); }
  void check() { proxy_.check(); }
  /// Whether no command taken from the rings is still underway.
  [[nodiscard]] bool is_idle();
  /// Takes no more commands from the rings. \return is_idle(), which then stays true
  [[nodiscard]] bool stop();

 private:
  /// Allocates the rings' memory and gives the port their addresses.
  void allocate(const Executor& executor, const Sizes& sizes);
  void make_services(const Sizes& sizes, const WindowState* window);
  /// Gives services the rings that they serve.
  void open_services(const Executor& executor, const Sizes& sizes);

  ContextState& context_;
  Proxy& proxy_;
  Buffer kernel_memory_;
  Buffer host_memory_;
  Buffer slots_;                        ///< in the kernel's memory; null where they are in host_memory_
  std::vector<Buffer> fetched_memory_;  ///< by service, if so
  std::uint64_t* read_ = nullptr;
  CommandPort port_;
  std::vector<std::unique_ptr<CommandService>> services_;
};

}  // namespace selvage::detail
