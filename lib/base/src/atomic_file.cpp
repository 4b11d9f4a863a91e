#include <selvage/atomic_file.hpp>
#include <selvage/error.hpp>
#include <selvage/file_descriptor.hpp>
#include <selvage/special_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace selvage {
namespace {

/// 0, or the errno that writing so many bytes would end with. The room is reserved where the file system can.
int can_hold(const FileDescriptor& file, std::uint64_t bytes) {
  if (bytes == 0) return 0;
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur)
    return EFBIG;
  // Compared first: reserving more than there is would fill the disk for everybody until it fails.
  struct statvfs disk = {};
  struct stat own = {};
  if (fstatvfs(file.number(), &disk) == 0 && fstat(file.number(), &own) == 0) {
    const auto held = static_cast<std::uint64_t>(own.st_blocks) * 512;
    if (static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize + held < bytes) return ENOSPC;
  }
  if (fallocate(file.number(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0) return 0;
  return errno == EOPNOTSUPP || errno == ENOSYS ? 0 : errno;
}

/// Makes a rename survive a power cut. Not every file system can, and the data is safe anyway: no error.
void flush_directory_of(const std::string& path) {
  const auto directory = std::filesystem::path(path).parent_path();
  const FileDescriptor file(directory.empty() ? "." : directory.string(), O_RDONLY | O_DIRECTORY);
  if (file.number() >= 0) fsync(file.number());
}

}  // namespace

std::string partial_path(const std::string& path) {
  return path + ".partial";
}

void reserve_file(const std::string& path, std::uint64_t bytes) {
  const FileDescriptor file(path, O_CREAT | O_TRUNC | O_WRONLY);
  if (file.number() < 0) throw_io_error("cannot create", path, errno);
  const int reason = can_hold(file, bytes);
  if (reason == 0) return;
  unlink(path.c_str());
  throw_io_error(fmt::format("cannot write {} bytes to", bytes), path, reason);
}

void hold_room(const std::string& path, std::uint64_t bytes) {
  const FileDescriptor file(path, O_WRONLY);
  if (file.number() < 0) throw_io_error("cannot open", path, errno);
  if (const int reason = can_hold(file, bytes)) {
    throw_io_error(fmt::format("cannot write {} bytes to", bytes), path, reason);
  }
}

void publish_file(const std::string& path) {
  const std::string partial = partial_path(path);
  int reason = 0;
  {
    const FileDescriptor file(partial, O_RDWR);
    if (file.number() < 0 || fsync(file.number()) != 0) reason = errno;
  }
  if (reason == 0 && std::rename(partial.c_str(), path.c_str()) != 0) reason = errno;
  if (reason != 0) {
    unlink(partial.c_str());
    throw_io_error("cannot write", path, reason);
  }
  flush_directory_of(path);
}

void replace_file(const std::string& path, std::string_view text) {
  const bool is_replaced = !is_special_file(path);
  const std::string aside = is_replaced ? partial_path(path) : path;
  {
    const FileDescriptor file(aside, is_replaced ? O_CREAT | O_TRUNC | O_WRONLY : O_WRONLY);
    if (file.number() < 0) throw_io_error(is_replaced ? "cannot create" : "cannot write", aside, errno);
    if (const int reason = file.write_all(text)) {
      if (is_replaced) unlink(aside.c_str());
      throw_io_error("cannot write", path, reason);
    }
  }
  if (is_replaced) publish_file(path);
}

}  // namespace selvage
