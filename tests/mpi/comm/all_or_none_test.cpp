#include "runtime/context_state.hpp"
#include "thrown.hpp"

#include <selvage/comm/context.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <stdexcept>
#include <string>

namespace selvage::test {
namespace {

// As Kokkos's where memory is short. Without it the others would wait until their time is up.
TEST(AllOrNone, TellsAllRanksOfAnotherLibrarysException) {
  const Context context(MPI_COMM_WORLD);
  const int failing = context.size() - 1;
  const std::string message = message_on_all_ranks(ErrorKind::unsupported, [&] {
    context.state()->all_or_none("a test", [&] {
      if (context.rank() == failing) throw std::runtime_error("no memory is left");
    });
  });
  EXPECT_NE(message.find("a test: no memory is left"), std::string::npos) << message;
  if (failing > 0) {
    EXPECT_NE(message.find("rank " + std::to_string(failing)), std::string::npos) << message;
  }
  EXPECT_NO_THROW(context.state()->all_or_none("a test", [] {}));
}

}  // namespace
}  // namespace selvage::test
