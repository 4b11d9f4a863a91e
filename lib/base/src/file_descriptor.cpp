#include <selvage/error.hpp>
#include <selvage/file_descriptor.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace selvage {

FileDescriptor::FileDescriptor(const std::string& path, int flags)
    : number_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) close(number_);
}

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

int FileDescriptor::write_all(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = write(number_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void throw_io_error(std::string_view what, const std::string& path, int reason) {
  throw Error(ErrorKind::io, fmt::format("{} {}: {}", what, path, std::strerror(reason)), reason);
}

void throw_unreadable(const std::string& path, int reason) {
  const bool is_at_limit = reason == EMFILE || reason == ENFILE;
  throw Error(is_at_limit ? ErrorKind::io : ErrorKind::input,
              fmt::format("cannot read {}: {}", path, std::strerror(reason)), reason);
}

}  // namespace selvage
