#include <selvage/error.hpp>
#include <selvage/file_descriptor.hpp>
#include <selvage/read_text_file.hpp>
#include <selvage/special_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace selvage {
namespace {

[[noreturn]] void refuse_length(const std::string& path, std::size_t most_bytes) {
  throw Error(ErrorKind::input, fmt::format("{} holds more than {} bytes", path, most_bytes), EFBIG);
}

}  // namespace

std::string read_text_file(const std::string& path, std::size_t most_bytes) {
  require_regular_file(path);
  const FileDescriptor file(path, O_RDONLY);
  struct stat facts {};
  if (file.number() < 0 || fstat(file.number(), &facts) != 0) throw_unreadable(path, errno);
  if (static_cast<std::size_t>(facts.st_size) > most_bytes) refuse_length(path, most_bytes);
  std::string text;
  text.reserve(static_cast<std::size_t>(facts.st_size));
  std::array<char, 65536> buffer;
  while (true) {
    // Those of /proc say that they are empty, and others may grow meanwhile.
    const ssize_t bytes = read(file.number(), buffer.data(), buffer.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) throw_unreadable(path, errno);
    if (bytes == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(bytes));
    if (text.size() > most_bytes) refuse_length(path, most_bytes);
  }
}

}  // namespace selvage
