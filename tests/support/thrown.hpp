#pragma once

#include "limits.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace selvage::test {

template <class Function>
std::optional<Error> thrown_by(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// Collective: whether all ranks hold the same text.
inline bool same_everywhere(const std::string& text) {
  std::array<char, 2048> first{};
  text.copy(first.data(), first.size() - 1);
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  int same = text == first.data() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return same != 0;
}

/// Collective: `function` must throw the same Error on every rank. \return its message
template <class Function>
std::string message_on_all_ranks(ErrorKind kind, const Function& function) {
  const auto error = thrown_by(function);
  const std::string message = error ? error->message() : "nothing was thrown";
  EXPECT_TRUE(error.has_value());
  EXPECT_EQ(error ? to_string(error->kind()) : "", to_string(kind)) << message;
  EXPECT_TRUE(same_everywhere(message)) << message;
  return message;
}

/// An environment variable for as long as this lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value, 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

/// How long waits last in tests that wait in vain: longer than a rank is without a core where eight share two of them, with
/// other programs.
inline const std::string short_timeout_ms = std::to_string(limit_ms(250));
/// The same for ranks that make something together. All that a test makes has this limit, so it leaves more time.
inline const std::string short_setup_timeout_ms = std::to_string(limit_ms(1500));

/// Contexts that are made while it lives have that limit, and the usual one for set-up.
class ShortTimeout {
  const ScopedVariable variable_{"SELVAGE_TIMEOUT_MS", short_timeout_ms.c_str()};
};

/// Contexts that are made while it lives have that limit, and a longer one for what comes after set-up.
class ShortSetupTimeout {
  static constexpr int usual_ms = 30'000;
  const ScopedVariable setup_{"SELVAGE_SETUP_TIMEOUT_MS", short_setup_timeout_ms.c_str()};
  // Where all is slow, the usual one may be shorter.
  const ScopedVariable others_{"SELVAGE_TIMEOUT_MS",
                               std::to_string(std::max(usual_ms, limit_ms(3000))).c_str()};
};

}  // namespace selvage::test
