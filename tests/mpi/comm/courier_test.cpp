
#include "call_off.hpp"

#include <selvage/comm/context.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace selvage::test {
namespace {

/// A message that has begun to come can't be stopped; the sender's end of it shows whether it has. Without a copy between
/// processes (CMA), since that is over at once.
TEST(CallOff, TellsWhoseMemoryMpiStillWrites) {
  const Context context(MPI_COMM_WORLD);
  if (context.size() < 2 || context.rank() > 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  constexpr int bytes = 8 << 20;
  std::vector<std::byte> message(bytes, std::byte{1});
  MPI_Request request = MPI_REQUEST_NULL;
  if (context.rank() == 0) {
    MPI_Isend(message.data(), bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    // Sends no more of it meanwhile.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Irecv(message.data(), bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    EXPECT_TRUE(detail::call_off(request)) << "nothing has come";
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    std::vector<std::byte> landing(bytes);
    MPI_Message found = MPI_MESSAGE_NULL;
    MPI_Mprobe(0, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    MPI_Imrecv(landing.data(), bytes, MPI_BYTE, &found, &request);
    EXPECT_FALSE(detail::call_off(request)) << "the message has begun to come";
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(landing, message);
    EXPECT_TRUE(detail::call_off(request)) << "it has come";
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace selvage::test
