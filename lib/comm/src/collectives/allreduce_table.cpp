#include "allreduce_table.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/read_text_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace selvage::detail {
namespace {

/// The fastest algorithm first, then the others by their times.
std::vector<std::string> fastest_first(const AllreduceRow& row) {
  std::vector<std::string> names;
  for (const auto& [name, time] : row.median_us) names.push_back(name);
  std::ranges::sort(names, {}, [&](const std::string& name) {
    return std::pair(name != row.best, row.median_us.at(name));
  });
  return names;
}

}  // namespace

std::string describe(const AllreduceJob& job) {
  return fmt::format("{} in {} memory of {}, {} per host{}, on {}", job.type, job.memory,
                     counted(job.ranks, "rank"), job.ranks_per_host,
                     job.ranks_share_cores ? ", which share cores" : "", job.machine);
}

AllreduceTable AllreduceTable::read(const std::string& path) {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  return parse(read_text_file(path, most_bytes), path);
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
