#include "service.hpp"

#include "gpu/device.hpp"
#include "wait.hpp"

#include <selvage/environment.hpp>
#include <selvage/error.hpp>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace selvage::detail {
namespace {

/// A thread gives way after each round, since ranks may outnumber cores, and sleeps when it has long been idle:
/// some milliseconds, longer than an iteration of most codes.
constexpr int rounds_before_sleep = 10'000;
constexpr std::chrono::microseconds nap{50};

}  // namespace

Service::Service(bool has_thread, int device) {
  if (has_thread) thread_ = std::thread([this, device] { run(device); });
}

Service::~Service() {
  stops_ = true;
  if (thread_.joinable()) thread_.join();
}

void Service::exclusive(const std::function<void()>& action) {
  ++visitors_;
  const std::lock_guard lock(mutex_);
  --visitors_;
  action();
}

void Service::add(Pollable& member) {
  exclusive([&] { members_.push_back(&member); });
}

void Service::remove(Pollable& member) {
  exclusive([&] { std::erase(members_, &member); });
}

void Service::progress() {
  if (thread_.joinable()) return;
  const std::lock_guard lock(mutex_);
  poll_all();
}

void Service::check() {
  if (!has_error_) return;
  std::exception_ptr error;
  exclusive([&] {
    error = std::exchange(error_, nullptr);
    has_error_ = false;
  });
  if (error) std::rethrow_exception(error);
}

void Service::keep_error() {
  if (!error_) error_ = std::current_exception();
  has_error_ = true;
}

bool Service::poll_all() {
  bool busy = false;
  for (Pollable* member : members_) {
    try {
      busy = member->poll() || busy;
    } catch (...) {
      keep_error();
    }
  }
  return busy;
}

void Service::run(int device) {
  try {
    use_device(device);
  } catch (...) {
    exclusive([&] { keep_error(); });
  }
  int idle = 0;
  while (!stops_) {
    while (visitors_ > 0) give_way();
    bool busy = false;
    {
      const std::lock_guard lock(mutex_);
      busy = poll_all();
    }
    idle = busy ? 0 : idle + 1;
    if (idle > rounds_before_sleep) {
      std::this_thread::sleep_for(nap);
    } else {
      give_way();
    }
  }
}

std::string why_no_service_threads(bool option) {
  const auto word = environment_word("SELVAGE_PROXY", {"thread", "caller"});
  if (word == "caller") return "the proxy has no thread: SELVAGE_PROXY=caller";
  if (!word && !option) return "the proxy has no thread: ContextOptions::service_threads is false";
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
  if (provided == MPI_THREAD_MULTIPLE) return {};
  return "the proxy has no thread: MPI was not started with MPI_THREAD_MULTIPLE";
}

}  // namespace selvage::detail
