#pragma once

#include <selvage/comm/options.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

namespace selvage {

/// What everything that is made from a Context follows. The environment variable named with a field overrules it, so that
/// whoever starts a program has the last word; an option of a single object, such as HaloOptions::transport, overrules both.
/// The same on all ranks, but for the log.
struct ContextOptions {
  /// The longest wait of what is made already: exchanges, sums, kernels, rebuilds of lists. 1 ms to 24 h, default 30 s.
  /// SELVAGE_TIMEOUT_MS
  std::optional<std::chrono::milliseconds> timeout = {};
  /// The longest wait in which ranks make something together. 1 ms to 24 h; default 30 s or the other limit, whichever is longer.
  /// SELVAGE_SETUP_TIMEOUT_MS
  std::optional<std::chrono::milliseconds> setup_timeout = {};
  /// Of halos and lists, instead of the best one that works with each neighbour. SELVAGE_TRANSPORT
  std::optional<Transport> transport = {};
  /// Of halos and lists, instead of stream where it works. SELVAGE_INITIATION
  std::optional<Initiation> initiation = {};
  /// False keeps the library from starting threads: what kernels ask for then happens in the caller's progress() and waits.
  /// SELVAGE_PROXY=thread|caller
  bool service_threads = true;
  /// Takes what is worth a line but no error: remarks on how the job was started, and what destructors, which can't throw, have
  /// lost. Called by the thread that uses the Context; what it throws ends the program in a destructor. Empty: lines of standard
  /// error that begin with "selvage: ".
  std::function<void(std::string_view message)> log = {};
};

}  // namespace selvage
