#include "pending_messages.hpp"

#include "runtime/cancel_receive.hpp"
#include "runtime/context_state.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <set>

namespace selvage::detail {

/// Cancels receives to the caller's View, because no message may arrive there when the View is used for something else or freed. Sends can't
/// be cancelled.
PendingMessages::~PendingMessages() {
  if (empty()) return;
  context_.mark_broken();
  memory_.abandon();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (partners_[i].way == Way::in) static_cast<void>(cancel_receive(requests_[i]));
  }
}

MPI_Request* PendingMessages::add(const Partner& partner) {
  partners_.push_back(partner);
  return &requests_.emplace_back(MPI_REQUEST_NULL);
}

void PendingMessages::receive(std::byte* to, std::int64_t bytes, int rank, int tag) {
  if (bytes == 0) return;
  check_mpi(MPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, rank, first_tag_ + tag, context_.comm(),
                      add({rank, Way::in})),
            "MPI_Irecv");
}

void PendingMessages::send(const std::byte* from, std::int64_t bytes, int rank, int tag) {
  if (bytes == 0) return;
  check_mpi(MPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, rank, first_tag_ + tag, context_.comm(),
                      add({rank, Way::out})),
            "MPI_Isend");
  if (!context_.machine().same_host(context_.rank(), rank)) sent_bytes_ += bytes;
}

/// Removes completed messages, so that the remaining ones name the late ranks.
bool PendingMessages::are_done() {
  if (empty()) return true;
  done_.resize(requests_.size());
  int count = 0;
  check_mpi(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done_.data(),
                         MPI_STATUSES_IGNORE),
            "MPI_Testsome");
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    partners_[kept] = partners_[i];
    ++kept;
  }
  requests_.resize(kept);
  partners_.resize(kept);
  return empty();
}

std::string PendingMessages::describe(const char* what) const {
  std::set<int> ranks;
  for (const Partner& partner : partners_) ranks.insert(partner.rank);
  std::string late;
  for (const int rank : ranks)
    late += fmt::format("{}rank {} ({} by MPI)", late.empty() ? "" : ", ", rank, what);
  return late;
}

}  // namespace selvage::detail
