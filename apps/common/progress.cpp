#include "common/progress.hpp"

#include <selvage/environment.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace selvage::app {
namespace {

constexpr auto redraw_interval = std::chrono::milliseconds(200);
constexpr const char* clear_line = "\r\033[K";

bool under_a_launcher() {
  return environment_text("OMPI_COMM_WORLD_RANK") || environment_text("PMI_RANK") ||
         environment_text("PMIX_RANK");
}

/// Whether the parent's standard output is a terminal. Where that can't be seen, it counts as none.
bool parent_writes_to_terminal() {
  std::error_code error;
  const auto target = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/1", getppid()), error).string();
  return !error &&
         (target.starts_with("/dev/pts/") || target.starts_with("/dev/tty") || target == "/dev/console");
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

bool standard_output_is_terminal() {
  if (isatty(STDOUT_FILENO) == 0) return false;
  return !under_a_launcher() || parent_writes_to_terminal();
}

Progress::Progress(bool shown, std::int64_t first, std::int64_t last)
    : shown_(shown), first_(first), last_(last), begin_(Clock::now()), next_(begin_ + redraw_interval) {}

Progress::~Progress() {
  clear();
}

void Progress::update(std::int64_t step) {
  if (!shown_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + redraw_interval;
  const double elapsed_s = std::chrono::duration<double>(now - begin_).count();
  fmt::print("{}{}{}{}", clear_line, progress_line(first_, step, last_, elapsed_s), note_.empty() ? "" : "  ",
             note_);
  std::fflush(stdout);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  fmt::print("{}", clear_line);
  std::fflush(stdout);
  drawn_ = false;
}

std::string progress_line(std::int64_t first, std::int64_t step, std::int64_t last, double elapsed_s) {
  const auto done = static_cast<double>(step - first);
  const auto total = static_cast<double>(std::max<std::int64_t>(last - first, 1));
  const std::string begin = fmt::format("{}/{} steps  {:.0f} %", step, last, 100 * done / total);
  if (done <= 0 || elapsed_s <= 0) return begin;
  const double per_second = done / elapsed_s;
  return fmt::format("{}  {:.3g} steps/s  ETA {}", begin, per_second,
                     clock_text((total - done) / per_second));
}

}  // namespace selvage::app
