#include "roll_call.hpp"

#include "wait.hpp"

#include <selvage/error.hpp>

namespace selvage::detail {

RollCall::RollCall(MPI_Comm comm, int first_tag)
    : comm_(comm), question_tag_(first_tag), answer_tag_(first_tag + 1) {}

void RollCall::answer() {
  constexpr unsigned polls_per_look = 16;
  if (++polls_ % polls_per_look == 0) answer_now();
}

/// A rank that asks is itself waiting.
void RollCall::answer_now() {
  receive_from_all(question_tag_, true);
}

void RollCall::receive_from_all(int tag, bool replies) {
  while (true) {
    int found = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &found, &status), "MPI_Iprobe");
    if (found == 0) return;
    const int rank = status.MPI_SOURCE;
    check_mpi(MPI_Recv(nullptr, 0, MPI_BYTE, rank, tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    heard_.insert(rank);
    if (replies) send(rank, answer_tag_);
  }
}

/// Empty messages need no memory that would have to stay for a rank that never receives them.
void RollCall::send(int rank, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(nullptr, 0, MPI_BYTE, rank, tag, comm_, &request), "MPI_Isend");
  check_mpi(MPI_Request_free(&request), "MPI_Request_free");
}

std::vector<int> RollCall::silent(std::chrono::milliseconds patience) {
  int rank = 0;
  int size = 1;
  check_mpi(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
  // Answers to an earlier call.
  const std::set<int> asked = heard_;
  receive_from_all(answer_tag_, false);
  heard_ = asked;
  for (int other = 0; other < size; ++other) {
    if (other != rank) send(other, question_tag_);
  }
  const auto end = std::chrono::steady_clock::now() + patience;
  while (static_cast<int>(heard_.size()) < size - 1 && std::chrono::steady_clock::now() < end) {
    answer_now();
    receive_from_all(answer_tag_, false);
    give_way();
  }
  std::vector<int> ranks;
  for (int other = 0; other < size; ++other) {
    if (other != rank && !heard_.contains(other)) ranks.push_back(other);
  }
  return ranks;
}

}  // namespace selvage::detail
