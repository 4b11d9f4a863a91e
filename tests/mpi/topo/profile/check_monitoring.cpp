// profile_check_monitoring FILE PREFIX RANKS: whether a profile shows the same point-to-point messages as Open MPI
// counted itself (its monitoring component, which writes PREFIX.<rank>.prof). For programs that call no collective
// with data.

#include "matrix_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>

namespace {

struct Count {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
};

/// Of the lines "E <from> <to> <n> bytes <n> msgs sent ...", which are the program's own messages.
Count monitored(const std::string& prefix, int from, int to) {
  std::ifstream file(prefix + "." + std::to_string(from) + ".prof");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string unit;
    int sender = 0;
    int receiver = 0;
    Count count;
    words >> kind >> sender >> receiver >> count.bytes >> unit >> count.messages;
    if (words && kind == "E" && sender == from && receiver == to) return count;
  }
  return {};
}

int check(const char* path, const std::string& prefix, int ranks) {
  const ProfileFile file(path);
  const auto bytes = file.numbers("host/bytes");
  const auto messages = file.numbers("host/messages");
  int failures = 0;
  std::uint64_t all = 0;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      Count expected = monitored(prefix, from, to);
      if (to == 0 && from != 0) {
        // The recorder's own: the rows that it sends to rank 0 at the end.
        expected.bytes -= 4 * sizeof(std::uint64_t) * static_cast<std::uint64_t>(ranks);
        expected.messages -= 1;
      }
      const auto index = static_cast<std::size_t>(from) * ranks + to;
      all += messages[index];
      if (bytes[index] == expected.bytes && messages[index] == expected.messages) continue;
      ++failures;
      std::fprintf(stderr, "%d to %d: %llu bytes in %llu messages, Open MPI saw %llu in %llu\n", from, to,
                   static_cast<unsigned long long>(bytes[index]),
                   static_cast<unsigned long long>(messages[index]),
                   static_cast<unsigned long long>(expected.bytes),
                   static_cast<unsigned long long>(expected.messages));
    }
  }
  if (all == 0) std::fprintf(stderr, "no messages at all\n");
  return failures == 0 && all > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    return check(argv[1], argv[2], std::atoi(argv[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
