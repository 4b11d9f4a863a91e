// profile_check FILE PROGRAM RANKS COMPLETE: whether the profile is exactly the traffic of that program, which is from
// device memory if its name ends with _on_device, and from each memory once if it ends with _on_both.

#include "expected.hpp"
#include "matrix_file.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace {

int failures = 0;

void expect(bool condition, const std::string& what) {
  if (condition) return;
  ++failures;
  std::fprintf(stderr, "profile_check: %s\n", what.c_str());
}

void expect_equal(const std::vector<std::uint64_t>& found, const std::vector<std::uint64_t>& expected,
                  const std::string& name, std::size_t columns) {
  expect(found.size() == expected.size(), name + " has another size");
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    expect(found[i] == expected[i], name + "[" + std::to_string(i / columns) + "][" +
                                        std::to_string(i % columns) + "] is " + std::to_string(found[i]) +
                                        " instead of " + std::to_string(expected[i]));
  }
}

void check_memory(const ProfileFile& file, const std::string& memory, const Expected& expected) {
  const auto columns = static_cast<std::size_t>(expected.ranks);
  const auto name = [&](const char* quantity) { return memory + "/" + quantity; };
  expect_equal(file.numbers(name("bytes").c_str()), expected.bytes, name("bytes"), columns);
  expect_equal(file.numbers(name("messages").c_str()), expected.messages, name("messages"), columns);
  expect_equal(file.numbers(name("histogram").c_str()),
               {expected.histogram.begin(), expected.histogram.end()}, name("histogram"), 64);
}

void check_attributes(const ProfileFile& file, int ranks, int complete) {
  const double seconds = file.real("seconds");
  const double communication_seconds = file.real("communication_seconds");
  const std::string library = file.text("library");
  expect(file.integer("selvage_traffic_version") == 1, "the version is another one");
  expect(file.integer("ranks") == ranks, "the rank count is another one");
  expect(file.integer("complete") == complete, "'complete' is wrong");
  expect(library.starts_with("Open MPI v") || library.starts_with("MPICH Version: "), "library: " + library);
  expect(seconds > 0 && seconds < 1000, "seconds: " + std::to_string(seconds));
  expect(
      communication_seconds > 0 && communication_seconds <= seconds,
      "communication_seconds: " + std::to_string(communication_seconds) + " of " + std::to_string(seconds));
}

void check(const char* path, const std::string& program, int ranks, int complete) {
  const bool on_both = program.ends_with("_on_both");
  const bool on_device = program.ends_with("_on_device");
  const ProfileFile file(path);
  const Expected expected = expected_of(program, ranks);
  const Expected nothing(ranks);
  check_attributes(file, ranks, complete);
  check_memory(file, "host", on_device ? nothing : expected);
  check_memory(file, "device", on_device || on_both ? expected : nothing);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: profile_check FILE PROGRAM RANKS COMPLETE\n");
    return 2;
  }
  try {
    check(argv[1], argv[2], std::atoi(argv[3]), std::atoi(argv[4]));
  } catch (const std::exception& error) {
    expect(false, error.what());
  }
  return failures == 0 ? 0 : 1;
}
