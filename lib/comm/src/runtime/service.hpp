#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace selvage::detail {

/// Something that a service thread looks after. Polls never block.
class Pollable {
 public:
  Pollable() = default;
  Pollable(const Pollable&) = delete;
  Pollable& operator=(const Pollable&) = delete;
  virtual ~Pollable() = default;

  /// \return whether there was something to do, or something is underway
  virtual bool poll() = 0;
};

/// Looks after Pollables in turn: by a thread of its own, or, where MPI may be called by one thread only, by
/// the caller's progress().
class Service {
 public:
  /// \param device  the GPU that is current in its thread, or no_device
  Service(bool has_thread, int device);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  void add(Pollable& member);
  /// Returns when no poll of `member` is running, and none will.
  void remove(Pollable& member);
  /// Runs `action` while nothing is polled.
  void exclusive(const std::function<void()>& action);
  /// One round by the caller, unless a thread does it.
  void progress();
  /// Throws the first error that a poll threw, once.
  void check();

 private:
  void run(int device);
  bool poll_all();
  /// Keeps the exception that is being handled for check().
  void keep_error();

  std::mutex mutex_;
  std::atomic<int> visitors_ = 0;  ///< who waits for the mutex, which the thread would take again at once
  std::vector<Pollable*> members_;
  std::exception_ptr error_;
  std::atomic<bool> has_error_ = false;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

/// Whether MPI lets threads of the library's own call it, and SELVAGE_PROXY doesn't say that the caller does the work.
/// \throws Error{input} for an environment variable that can't be right
[[nodiscard]] bool may_have_service_threads();

}  // namespace selvage::detail
