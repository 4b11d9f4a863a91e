#include "sparse_exchange.hpp"

#include "runtime/context_state.hpp"
#include "runtime/wait.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>

namespace selvage::detail {
namespace {

/// Not freed after a timeout, because MPI still reads the numbers for late ranks.
struct Sends {
  std::vector<SparseNumber> numbers;
  std::vector<MPI_Request> requests;
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool in_barrier = false;
};

bool all_received(Sends& sends) {
  int done = 0;
  check_mpi(
      MPI_Testall(static_cast<int>(sends.requests.size()), sends.requests.data(), &done, MPI_STATUSES_IGNORE),
      "MPI_Testall");
  return done != 0;
}

void receive_some(MPI_Comm comm, int tag, std::vector<SparseNumber>& received) {
  while (true) {
    int found = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &found, &status), "MPI_Iprobe");
    if (found == 0) return;
    SparseNumber number{.rank = status.MPI_SOURCE};
    check_mpi(MPI_Recv(&number.value, 1, MPI_INT64_T, number.rank, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    received.push_back(number);
  }
}

bool is_over(MPI_Comm comm, Sends& sends) {
  if (!sends.in_barrier) {
    if (!all_received(sends)) return false;
    check_mpi(MPI_Ibarrier(comm, &sends.barrier), "MPI_Ibarrier");
    sends.in_barrier = true;
  }
  int done = 0;
  check_mpi(MPI_Test(&sends.barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

std::string describe_late(ContextState& context, const Sends& sends, std::string_view purpose) {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < sends.requests.size(); ++i) {
    if (sends.requests[i] != MPI_REQUEST_NULL) ranks.push_back(sends.numbers[i].rank);
  }
  if (ranks.empty()) ranks = context.silent_ranks();
  if (ranks.empty()) return fmt::format("MPI {}, for which all ranks still wait", purpose);
  return fmt::format("rank {} {}", fmt::join(ranks, ", rank "), purpose);
}

}  // namespace

std::vector<SparseNumber> sparse_exchange(ContextState& context, int first_tag, std::uint64_t round,
                                          std::span<const SparseNumber> numbers, std::string_view purpose) {
  const int tag = first_tag + static_cast<int>(round % tags_per_sparse_exchange);
  const MPI_Comm comm = context.comm();
  auto sends = std::make_unique<Sends>();
  sends->numbers.assign(numbers.begin(), numbers.end());
  sends->requests.resize(numbers.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    check_mpi(MPI_Issend(&sends->numbers[i].value, 1, MPI_INT64_T, sends->numbers[i].rank, tag, comm,
                         &sends->requests[i]),
              "MPI_Issend");
  }
  std::vector<SparseNumber> received;
  const auto done = [&] {
    context.answer_roll_call();
    receive_some(comm, tag, received);
    return is_over(comm, *sends);
  };
  try {
    wait_until(context.planning_timeout(), context.yields(), done,
               [&] { return describe_late(context, *sends, purpose); });
  } catch (const Error&) {
    context.mark_broken();
    static_cast<void>(sends.release());
    throw;
  }
  std::ranges::sort(received, {}, &SparseNumber::rank);
  return received;
}

}  // namespace selvage::detail
