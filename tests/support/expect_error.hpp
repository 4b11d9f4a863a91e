#pragma once

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace selvage::app::testing_support {

/// Runs `work` and expects selvage::Error of that kind. \return its sentence, empty when there was none
template <class Work>
[[nodiscard]] std::string error_message(ErrorKind kind, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.kind()), to_string(kind)) << error.what();
    return error.message();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

}  // namespace selvage::app::testing_support
