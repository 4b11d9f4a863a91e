#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace selvage::detail {

/// Work of a service thread. poll() never blocks.
class Pollable {
 public:
  Pollable() = default;
  Pollable(const Pollable&) = delete;
  Pollable& operator=(const Pollable&) = delete;
  virtual ~Pollable() = default;

  /// \return whether it did something, or something is underway
  virtual bool poll() = 0;
};

/// Polls its Pollables in turn: on a thread of its own, or, where only one thread may call MPI, in progress() of the caller.
class Service {
 public:
  /// \param device  the GPU that is current in its thread, or no_device
  Service(bool has_thread, int device);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  void add(Pollable& member);
  /// Removes `member`. When it returns, no poll of it is running, and none will begin.
  void remove(Pollable& member);
  /// Runs `action` while nothing is polled.
  void exclusive(const std::function<void()>& action);
  /// Runs one round on the calling thread, unless the service has its own.
  void progress();
  /// Throws the first error that a poll threw, once.
  void check();

 private:
  void run(int device);
  bool poll_all();
  /// Keeps the exception that is being handled for check().
  void keep_error();

  std::mutex mutex_;
  std::atomic<int> visitors_ = 0;  ///< threads that wait for the mutex; the service's thread then pauses
  std::vector<Pollable*> members_;
  std::exception_ptr error_;
  std::atomic<bool> has_error_ = false;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

/// Why the library may have no threads that call MPI: the user or MPI says so. Empty where it may.
/// \param option  ContextOptions::service_threads
/// \throws Error{input} for an environment variable that can't be right
[[nodiscard]] std::string why_no_service_threads(bool option);

}  // namespace selvage::detail
