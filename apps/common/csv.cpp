#include "common/csv.hpp"

#include <selvage/atomic_file.hpp>
#include <selvage/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace selvage::app {
namespace {

/// The kept part of an earlier file: header and complete rows of earlier steps.
std::string kept_rows(const std::string& path, const std::string& header, std::int64_t first_new_step) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::input, fmt::format("cannot go on with {}: it can't be read", path));
  std::string kept;
  std::string line;
  // A line without its line feed was torn by a crash: getline then stops at the end of the file.
  while (std::getline(file, line) && !file.eof()) {
    if (kept.empty() && line != header) {
      throw Error(ErrorKind::input,
                  fmt::format("cannot go on with {}: its columns are '{}', not '{}'", path, line, header));
    }
    std::int64_t step = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), step);
    const bool is_row = parsed.ec == std::errc{} && step < first_new_step;
    if (kept.empty() || is_row) kept += line + "\n";
  }
  return kept;
}

}  // namespace

CsvHistory::CsvHistory(std::string path, std::vector<std::string> columns,
                       std::optional<std::int64_t> first_new_step)
    : path_(std::move(path)), columns_(columns.size()) {
  const std::string header = fmt::format("{}", fmt::join(columns, ","));
  std::string text;
  std::error_code ignored;
  if (first_new_step && std::filesystem::exists(path_, ignored))
    text = kept_rows(path_, header, *first_new_step);
  if (text.empty()) text = header + "\n";
  replace_file(path_, text);
  file_ = FileDescriptor(path_, O_WRONLY | O_APPEND);
  if (file_.number() < 0) throw_io_error("cannot append to", path_, errno);
}

void CsvHistory::append(std::int64_t step, std::span<const double> values) {
  if (values.size() + 1 != columns_) {
    throw Error(ErrorKind::usage,
                fmt::format("{} has {} columns, but a row of {} came", path_, columns_, values.size() + 1));
  }
  std::string row = fmt::format("{}", step);
  for (const double value : values) row += std::isnan(value) ? "," : fmt::format(",{}", value);
  row += '\n';
  const off_t complete = lseek(file_.number(), 0, SEEK_END);
  const int reason = file_.write_all(row);
  if (reason == 0) return;
  // Half a row would be read as a number: better none.
  if (ftruncate(file_.number(), complete) != 0) throw_io_error("cannot repair", path_, errno);
  throw_io_error("cannot append to", path_, reason);
}

}  // namespace selvage::app
