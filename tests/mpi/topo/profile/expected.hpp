#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// What a program sends, worked out from its source rather than from anything that ran.
class Expected {
 public:
  explicit Expected(int rank_count)
      : ranks(rank_count), bytes(static_cast<std::size_t>(ranks) * ranks), messages(bytes.size()) {}

  void add(int from, int to, std::uint64_t message_bytes, std::uint64_t count = 1) {
    const auto index = static_cast<std::size_t>(from) * ranks + to;
    bytes[index] += message_bytes * count;
    messages[index] += count;
    int bin = 0;
    for (std::uint64_t rest = message_bytes; rest > 1; rest /= 2) ++bin;
    histogram[bin] += count;
  }

  int ranks;
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint64_t> messages;
  std::array<std::uint64_t, 64> histogram{};
};

/// Throws std::out_of_range for a program that isn't known.
[[nodiscard]] Expected expected_of(const std::string& program, int ranks);
