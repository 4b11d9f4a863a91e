#include "allreduce_table.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace selvage::detail {
namespace {

/// The best, then the others by their times.
std::vector<std::string> fastest_first(const AllreduceRow& row) {
  std::vector<std::string> names;
  for (const auto& [name, time] : row.median_us) names.push_back(name);
  std::ranges::sort(names, {}, [&](const std::string& name) {
    return std::pair(name != row.best, row.median_us.at(name));
  });
  return names;
}

/// A device may have no end.
std::string read_all(std::istream& file, const std::string& path) {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  std::string text;
  std::array<char, 65536> buffer;
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_bytes)
      throw Error(ErrorKind::input, fmt::format("allreduce table {} is longer than any table", path));
  }
  return text;
}

}  // namespace

std::string describe(const AllreduceJob& job) {
  return fmt::format("{} in {} memory of {}, {} per host{}, on {}", job.type, job.memory,
                     counted(job.ranks, "rank"), job.ranks_per_host,
                     job.ranks_share_cores ? ", which share cores" : "", job.machine);
}

AllreduceTable AllreduceTable::read(const std::string& path) {
  // A directory can be opened, but not read.
  std::error_code ignored;
  const bool is_directory = std::filesystem::is_directory(path, ignored);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (is_directory || !file) {
    const int reason = is_directory ? EISDIR : errno;
    throw Error(ErrorKind::input,
                fmt::format("allreduce table {} can't be read: {}", path, std::strerror(reason)), reason);
  }
  return parse(read_all(file, path), path);
}

void AllreduceTable::merge(const AllreduceJob& job, const std::vector<AllreduceRow>& rows) {
  auto series = std::ranges::find(series_, job, &Series::job);
  if (series == series_.end()) series = series_.insert(series, {job, {}});
  for (const AllreduceRow& row : rows) series->rows.insert_or_assign(row.bytes, row);
}

const AllreduceTable::Series* AllreduceTable::find(const AllreduceJob& job) const {
  const auto series = std::ranges::find(series_, job, &Series::job);
  return series == series_.end() ? nullptr : &*series;
}

AllreduceAdvice AllreduceTable::advise(const AllreduceJob& job, std::int64_t bytes) const {
  const Series* series = find(job);
  if (series == nullptr || series->rows.empty())
    return {.why = fmt::format("{} has nothing for {}", path_, describe(job))};
  const std::int64_t smallest = series->rows.begin()->first;
  const std::int64_t largest = series->rows.rbegin()->first;
  if (bytes < smallest || bytes > largest)
    return {.why = fmt::format("{} has rows from {} to {} bytes", path_, smallest, largest)};
  const AllreduceRow& row = std::prev(series->rows.upper_bound(bytes))->second;
  return {.algorithms = fastest_first(row),
          .why = fmt::format("row of {} bytes in {}: {} took {:.3g} us on {}", row.bytes, path_, row.best,
                             row.median_us.at(row.best), row.date)};
}

}  // namespace selvage::detail
