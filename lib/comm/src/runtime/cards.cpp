#include "cards.hpp"

#include "message_size.hpp"

#include <memory>
#include <utility>

namespace selvage::detail {

std::vector<std::vector<std::byte>> swap_bytes(ContextState& context, int tag,
                                               std::vector<CardsFor<std::byte>> mine,
                                               std::string_view purpose) {
  struct Buffers {
    std::vector<CardsFor<std::byte>> mine;
    std::vector<std::vector<std::byte>> theirs;
  };
  const auto buffers = std::make_shared<Buffers>(Buffers{std::move(mine), {}});
  ContextState::Messages messages;
  messages.memory.push_back(buffers);
  for (const auto& [rank, bytes] : buffers->mine) buffers->theirs.push_back(bytes);
  for (std::size_t i = 0; i < buffers->mine.size(); ++i) {
    const auto& [rank, bytes] = buffers->mine[i];
    if (rank == context.rank()) continue;
    const int count = message_size(bytes.size());
    check_mpi(
        MPI_Irecv(buffers->theirs[i].data(), count, MPI_BYTE, rank, tag, context.comm(), messages.add(rank)),
        "MPI_Irecv");
    check_mpi(MPI_Isend(bytes.data(), count, MPI_BYTE, rank, tag, context.comm(), messages.add(rank)),
              "MPI_Isend");
  }
  context.wait_messages(messages, purpose);
  return std::move(buffers->theirs);
}

}  // namespace selvage::detail
