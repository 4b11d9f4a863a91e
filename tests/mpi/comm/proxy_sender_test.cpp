#include "proxy/proxy_sender.hpp"

#include "proxy/command_queue.hpp"
#include "proxy/receiver.hpp"
#include "proxy/window_state.hpp"
#include "runtime/cancel_receive.hpp"
#include "runtime/context_state.hpp"
#include "thrown.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/kokkos_executor.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace {
bool can_cancel = true;
}  // namespace

/// In place of MPI's: cancels nothing while a message that has begun to come is pretended.
extern "C" int MPI_Cancel(MPI_Request* request) {
  return can_cancel ? PMPI_Cancel(request) : MPI_SUCCESS;
}

namespace selvage::test {
namespace {

using detail::NetworkOperation;
using detail::ProxySender;

class Watcher final : public detail::TransferWatcher {
 public:
  void local_done(std::uint64_t cookie) override { done.insert(cookie); }
  void remote_done(std::uint64_t) override {}
  std::set<std::uint64_t> done;
};

/// A sender of this rank, and messages to itself.
class Messages : public testing::Test {
 protected:
  void send(std::size_t bytes, int tag) {
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Isend(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, rank(), tag, context_.state()->comm(),
              &sent);
    MPI_Request_free(&sent);
  }
  void receive(ProxySender& sender, std::size_t bytes, int tag, std::uint64_t cookie) {
    sender.start({.kind = NetworkOperation::Kind::receive,
                  .target = rank(),
                  .local = buffer_.data() + 64 * cookie,
                  .bytes = bytes,
                  .message_tag = tag},
                 1, watcher_, cookie);
  }
  [[nodiscard]] ProxySender make_sender() {
    return {*context_.state(), windows_, context_.state()->take_tags(1), detail::Tags(),
            detail::MemoryKind::host};
  }
  [[nodiscard]] int rank() const { return context_.rank(); }

  Context context_{MPI_COMM_WORLD};
  int tag_ = context_.state()->take_tags(2);
  detail::WindowTable windows_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(256);
  Watcher watcher_;
};

TEST_F(Messages, CompleteBesideOneOfAnotherLength) {
  ProxySender sender = make_sender();
  send(8, tag_);
  send(16, tag_ + 1);
  receive(sender, 16, tag_, 0);
  receive(sender, 16, tag_ + 1, 1);
  const auto error = thrown_by([&] {
    for (int poll = 0; poll < 1000; ++poll) static_cast<void>(sender.progress());
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::usage);
  EXPECT_NE(error->message().find("sent 8 bytes, this rank expects 16"), std::string::npos)
      << error->message();
  static_cast<void>(sender.progress());
  EXPECT_EQ(watcher_.done, (std::set<std::uint64_t>{1}));
}

TEST(CommandRings, TakeNothingOnceTheyAreStopped) {
  const Context context(MPI_COMM_WORLD);
  const detail::KokkosExecutor executor{Kokkos::DefaultHostExecutionSpace()};
  detail::CommandRings rings(*context.state(), executor, {.capacity = 2}, nullptr);
  std::byte received{};
  std::uint64_t done = 0;
  const detail::Command command{.kind = detail::CommandKind::receive,
                                .rank = context.rank(),
                                .offset = static_cast<std::uint64_t>(context.state()->take_tags(1)),
                                .bytes = 1,
                                .payload = reinterpret_cast<std::uint64_t>(&received),
                                .arrival = reinterpret_cast<std::uint64_t>(&done),
                                .arrival_value = 1};
  EXPECT_TRUE(rings.stop());
  EXPECT_TRUE(rings.port().ring(0).enqueue(command, false));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  rings.progress();
  EXPECT_EQ(detail::acquire_word(*rings.port().read), 0U) << "it would use memory that is about to go";
  EXPECT_TRUE(rings.is_idle());
}

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
    EXPECT_TRUE(detail::cancel_receive(request)) << "nothing has come";
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    std::vector<std::byte> landing(bytes);
    MPI_Message found = MPI_MESSAGE_NULL;
    MPI_Mprobe(0, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    MPI_Imrecv(landing.data(), bytes, MPI_BYTE, &found, &request);
    EXPECT_FALSE(detail::cancel_receive(request)) << "the message has begun to come";
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(landing, message);
    EXPECT_TRUE(detail::cancel_receive(request)) << "it has come";
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Receiver, EndsAtOnceThoughItsReceiveCanNotBeCalledOff) {
  const Context context(MPI_COMM_WORLD);
  detail::WindowTable windows;
  auto receiver =
      std::make_unique<detail::Receiver>(*context.state(), windows, context.state()->take_tags(1));
  can_cancel = false;
  receiver.reset();
  can_cancel = true;
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace selvage::test
