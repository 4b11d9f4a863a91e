#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace selvage::app::testing_support {

/// While it lives, this process can open only so many files more.
class OpenFilesLimit {
 public:
  explicit OpenFilesLimit(int more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = open("/dev/null", O_RDONLY);
    close(next);
    const rlimit limit{static_cast<rlim_t>(next + more), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~OpenFilesLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  OpenFilesLimit(const OpenFilesLimit&) = delete;
  OpenFilesLimit& operator=(const OpenFilesLimit&) = delete;

 private:
  rlimit before_ = {};
};

}  // namespace selvage::app::testing_support
