#include "expected.hpp"

#include <functional>
#include <map>

namespace {

constexpr int rounds = 10;
constexpr std::uint64_t real = sizeof(double);

void each_sends_after(Expected& expected, int distance, std::uint64_t bytes, std::uint64_t count = 1) {
  const int n = expected.ranks;
  for (int rank = 0; rank < n; ++rank) expected.add(rank, ((rank + distance) % n + n) % n, bytes, count);
}

void root_to_all(Expected& expected, int root, std::uint64_t bytes) {
  for (int rank = 0; rank < expected.ranks; ++rank) {
    if (rank != root) expected.add(root, rank, bytes);
  }
}

void all_to_root(Expected& expected, int root, std::uint64_t bytes) {
  for (int rank = 0; rank < expected.ranks; ++rank) {
    if (rank != root) expected.add(rank, root, bytes);
  }
}

/// \param bytes_of(from, to) 0: nothing is sent
void pairwise(Expected& expected, const std::function<std::uint64_t(int, int)>& bytes_of) {
  for (int from = 0; from < expected.ranks; ++from) {
    for (int to = 0; to < expected.ranks; ++to) {
      if (from != to && bytes_of(from, to) > 0) expected.add(from, to, bytes_of(from, to));
    }
  }
}

void pairwise(Expected& expected, std::uint64_t bytes) {
  pairwise(expected, [=](int, int) { return bytes; });
}

void nothing(Expected&) {}

void ring(Expected& expected) {
  each_sends_after(expected, 1, 100 * real, rounds);
  each_sends_after(expected, -1, 7 * sizeof(int), rounds);
}

void sends(Expected& expected) {
  for (const std::uint64_t count : {1, 2, 4, 8, 16, 32, 64, 0}) each_sends_after(expected, 1, count * real);
  expected.add(0, 1, 256 * real);
}

void halo(Expected& expected) {
  for (int rank = 0; rank + 1 < expected.ranks; ++rank) {
    expected.add(rank, rank + 1, 32 * real, rounds);
    expected.add(rank + 1, rank, 32 * real, rounds);
  }
}

void persistent(Expected& expected) {
  each_sends_after(expected, 1, 50 * sizeof(float), rounds);
  each_sends_after(expected, 1, 60 * sizeof(float));
}

/// Each half's first rank is the highest of its parity and its last the lowest.
void sub_communicators(Expected& expected) {
  for (const int parity : {0, 1}) {
    int highest = expected.ranks - 1;
    if (highest % 2 != parity) --highest;
    if (highest <= parity) continue;
    expected.add(highest, parity, 5 * real, rounds);
    for (int rank = parity; rank < highest; rank += 2) expected.add(highest, rank, 3 * sizeof(int), rounds);
  }
}

void between_groups(Expected& expected) {
  for (int odd = 1; odd < expected.ranks; odd += 2) {
    expected.add(odd - 1, odd, 11 * sizeof(int));
    expected.add(0, odd, 13 * sizeof(int));
  }
}

void collectives(Expected& expected) {
  root_to_all(expected, 1, 1 * real);
  all_to_root(expected, 1, 2 * real);
  pairwise(expected, 4 * real);
  all_to_root(expected, 0, 8 * real);
  root_to_all(expected, 0, 16 * real);
  pairwise(expected, 32 * real);
  pairwise(expected, 64 * real);
  pairwise(expected, [](int from, int to) { return from < to ? 128 * real : 0; });
  root_to_all(expected, 0, 256 * real);
  pairwise(expected, 512 * real);
  pairwise(expected, [](int, int to) { return to; });
  pairwise(expected, [](int from, int) { return from; });
  pairwise(expected, [](int, int to) { return to; });
}

void neighbours(Expected& expected) {
  for (const int distance : {1, 2}) each_sends_after(expected, distance, 10 * sizeof(int));
  each_sends_after(expected, 1, 3 * sizeof(int));
  each_sends_after(expected, 2, 0);
  for (const int distance : {-1, 1}) each_sends_after(expected, distance, 20 * sizeof(int));
}

void one_sided(Expected& expected) {
  each_sends_after(expected, 1, 3 * real);
  each_sends_after(expected, -1, 5 * real);
  each_sends_after(expected, 1, 7 * real);
  each_sends_after(expected, 1, real);
  each_sends_after(expected, -1, real);
}

void collectives_on_device(Expected& expected) {
  root_to_all(expected, 1, 1 * real);
  pairwise(expected, 4 * real);
  pairwise(expected, 8 * real);
}

void fortran(Expected& expected) {
  each_sends_after(expected, 1, 100 * real, rounds);
  each_sends_after(expected, -1, 7 * sizeof(int), rounds);
  pairwise(expected, 4 * real);
}

void many_threads(Expected& expected) {
  each_sends_after(expected, 1, 8 * real, 4 * 1000);
}

}  // namespace

Expected expected_of(const std::string& program, int ranks) {
  static const std::map<std::string, void (*)(Expected&)> programs{
      {"ring", ring},
      {"sends", sends},
      {"halo", halo},
      {"persistent", persistent},
      {"sub_communicators", sub_communicators},
      {"between_groups", between_groups},
      {"collectives", collectives},
      {"neighbours", neighbours},
      {"one_sided", one_sided},
      {"many_threads", many_threads},
      {"ring_on_both", ring},
      {"collectives_on_device", collectives_on_device},
      {"aborting", ring},
      {"all_aborting", ring},
      {"killed", ring},
      {"leaving", ring},
      {"failing", ring},
      {"nothing", nothing},
      {"fortran_mpif_h", fortran},
      {"fortran_mpi", fortran},
      {"fortran_mpi_f08", fortran},
  };
  Expected expected(ranks);
  programs.at(program)(expected);
  return expected;
}
