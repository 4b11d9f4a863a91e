#include "runtime/public_call.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <future>
#include <string>

namespace selvage::detail {
namespace {

/// What a call of another thread ends in; empty without an error.
std::string elsewhere(CallingThread& calling) {
  return std::async(std::launch::async,
                    [&]() -> std::string {
                      try {
                        const PublicCall call(calling, no_device, 3);
                        return {};
                      } catch (const Error& error) {
                        return error.message();
                      }
                    })
      .get();
}

TEST(PublicCall, IsOfOneThreadAtATime) {
  CallingThread calling = nullptr;
  {
    const PublicCall call(calling, no_device, 3);
    EXPECT_NE(elsewhere(calling).find("two threads of rank 3"), std::string::npos);
  }
  EXPECT_EQ(elsewhere(calling), "");
}

TEST(PublicCall, MayNest) {
  CallingThread calling = nullptr;
  const PublicCall outer(calling, no_device, 0);
  { const PublicCall inner(calling, no_device, 0); }
  EXPECT_NE(elsewhere(calling), "");
}

}  // namespace
}  // namespace selvage::detail
