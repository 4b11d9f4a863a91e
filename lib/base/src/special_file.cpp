#include <selvage/error.hpp>
#include <selvage/special_file.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace selvage {
namespace {

std::string_view kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "it is a pipe, not a file";
  if (S_ISSOCK(mode)) return "it is a socket, not a file";
  return "it is a device, not a file";
}

}  // namespace

bool is_special_file(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);
}

void require_regular_file(const std::string& path) {
  struct stat facts {};
  const int code = stat(path.c_str(), &facts) != 0 ? errno : S_ISDIR(facts.st_mode) ? EISDIR : 0;
  if (code == 0 && S_ISREG(facts.st_mode)) return;
  throw Error(
      ErrorKind::input,
      fmt::format("cannot read {}: {}", path, code != 0 ? std::strerror(code) : kind_of(facts.st_mode)),
      code);
}

}  // namespace selvage
