#pragma once

#include <string>
#include <string_view>

namespace selvage {

/// A POSIX file descriptor that closes itself. number() is negative, and errno set, where open(2) failed.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  FileDescriptor(const std::string& path, int flags);
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;

  [[nodiscard]] int number() const { return number_; }
  /// Writes everything. \return 0, or the errno of the write that failed
  [[nodiscard]] int write_all(std::string_view text) const;

 private:
  int number_ = -1;
};

/// Throws Error{io} "<what> <path>: <the system's text for `reason`>".
[[noreturn]] void throw_io_error(std::string_view what, const std::string& path, int reason);
/// Throws "cannot read <path>: <the system's text for `reason`>": Error{input}, but Error{io} where no file is to blame, since
/// too many are open.
[[noreturn]] void throw_unreadable(const std::string& path, int reason);

}  // namespace selvage
