#include "finish.hpp"

#include "writer.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace selvage::profile {
namespace {

constexpr int rows_tag = 1;

std::string writer_path() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<void*>(&write_profile), &own) == 0 || own.dli_fname == nullptr) return {};
  const std::string path = own.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "libselvage_profile_writer.so";
}

/// A function of the writer. Opened so that it finds its own HDF5 before any of the program's, and the program never
/// finds this one.
template <class Function>
Function writer_function(const char* name, Failure& failure) {
  void* const writer = dlopen(writer_path().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  void* const function = writer == nullptr ? nullptr : dlsym(writer, name);
  if (function == nullptr) std::snprintf(failure.text, sizeof failure.text, "%s", dlerror());
  return reinterpret_cast<Function>(function);
}

void complain(const Failure& failure) {
  std::fprintf(stderr, "libselvage_profile: no profile was written: %s\n", failure.text);
}

/// Where rank 0 gets the other ranks' rows from.
struct Gather {
  const std::vector<std::uint64_t>* own;
  MPI_Comm comm;
  int next = 0;  // ranks whose rows have been received
};

void receive_rows(void* context, int sender, std::uint64_t* values) {
  auto& gather = *static_cast<Gather*>(context);
  gather.next = sender + 1;
  if (sender == 0) {
    std::memcpy(values, gather.own->data(), gather.own->size() * sizeof(std::uint64_t));
  } else {
    PMPI_Recv(values, static_cast<int>(gather.own->size()), MPI_UINT64_T, sender, rows_tag, gather.comm,
              MPI_STATUS_IGNORE);
  }
}

/// What this rank sent and what others fetched from it, the rows of the matrices.
std::vector<std::uint64_t> complete_rows(const Part& part, MPI_Comm comm) {
  const std::size_t length = part.rows_length();
  const std::size_t ranks = static_cast<std::size_t>(part.header().ranks);
  std::vector<std::uint64_t> sent(length);
  std::vector<std::uint64_t> fetched(length);
  int some_fetched = 0;
  for (std::size_t i = 0; i < length; ++i) {
    sent[i] = part.rows(Direction::sent)[i].load(std::memory_order_relaxed);
    fetched[i] = part.rows(Direction::fetched)[i].load(std::memory_order_relaxed);
    if (fetched[i] > 0) some_fetched = 1;
  }
  PMPI_Allreduce(MPI_IN_PLACE, &some_fetched, 1, MPI_INT, MPI_MAX, comm);
  if (some_fetched == 0) return sent;
  std::vector<std::uint64_t> taken(ranks);
  for (std::size_t row = 0; row < memories * quantities; ++row) {
    PMPI_Alltoall(fetched.data() + row * ranks, 1, MPI_UINT64_T, taken.data(), 1, MPI_UINT64_T, comm);
    for (std::size_t receiver = 0; receiver < ranks; ++receiver)
      sent[row * ranks + receiver] += taken[receiver];
  }
  return sent;
}

Totals reduce_totals(const Part& part, MPI_Comm comm) {
  Totals own;
  for (int memory = 0; memory < memories; ++memory) {
    for (int bin = 0; bin < histogram_bins; ++bin) {
      own.histograms[memory][bin] = part.header().histograms[memory][bin].load(std::memory_order_relaxed);
    }
  }
  own.seconds = part.seconds();
  own.communication_seconds = part.communication_seconds();
  Totals totals;
  PMPI_Reduce(own.histograms, totals.histograms, memories * histogram_bins, MPI_UINT64_T, MPI_SUM, 0, comm);
  PMPI_Reduce(&own.seconds, &totals.seconds, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
  PMPI_Reduce(&own.communication_seconds, &totals.communication_seconds, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
  totals.ranks = part.header().ranks;
  totals.communication_seconds /= totals.ranks;
  totals.mpi_library = part.header().mpi_library.data();
  return totals;
}

void gather_and_write(const std::string& output, const Totals& totals, Gather& gather) {
  Failure failure;
  const auto write = writer_function<WriteProfile>("selvage_profile_write", failure);
  if (write == nullptr || !write(output.c_str(), totals, receive_rows, &gather, failure)) complain(failure);
  // The others send in any case.
  std::vector<std::uint64_t> unwanted(gather.own->size());
  while (gather.next < totals.ranks) receive_rows(&gather, gather.next, unwanted.data());
}

}  // namespace

void write_profile(const std::string& output, const Part& part, MPI_Comm comm) {
  const auto rows = complete_rows(part, comm);
  const Totals totals = reduce_totals(part, comm);
  if (part.header().rank != 0) {
    PMPI_Send(rows.data(), static_cast<int>(rows.size()), MPI_UINT64_T, 0, rows_tag, comm);
    return;
  }
  Gather gather{&rows, comm};
  gather_and_write(output, totals, gather);
}

void write_unfinished_profile(const std::string& parts_of, const std::string& output) {
  Failure failure;
  const auto merge = writer_function<MergeProfile>("selvage_profile_merge", failure);
  // The parts stay where this fails, so nothing is lost that selvage-profile-merge couldn't write later.
  if (merge != nullptr) (void)merge(parts_of.c_str(), output.c_str(), failure);
}

}  // namespace selvage::profile
