#include "writer.hpp"

#include <cstdio>
#include <string_view>

namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  const bool asked = first == "--help" || first == "-h";
  if (asked || argc < 2 || argc > 3 || first.starts_with("-")) {
    std::fprintf(asked ? stdout : stderr,
                 "usage: selvage-profile-merge FILE.h5 [OUTPUT.h5]\n\n"
                 "Makes OUTPUT.h5 (FILE.h5) from the FILE.h5.rank<n> that ranks leave which end without "
                 "MPI_Finalize, and removes them.\n");
    return asked ? 0 : exit_usage;
  }
  selvage::profile::Failure failure;
  const bool has_merged = selvage::profile::selvage_profile_merge(argv[1], argv[argc - 1], failure);
  if (failure.text[0] != 0) std::fprintf(stderr, "selvage-profile-merge: %s\n", failure.text);
  return has_merged ? 0 : exit_failed;
}
