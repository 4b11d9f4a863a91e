#include "placement/random.hpp"
#include "placement/traffic/process_grid.hpp"
#include "text/text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/pattern.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace selvage::topo {
namespace {

constexpr std::uint64_t face_bytes = 65536;

struct Options {
  bool wrap = false;
  bool weighted = false;
  bool corners = false;
};

[[noreturn]] void fail(std::string_view name, const std::string& why) {
  throw Error(ErrorKind::input, fmt::format("pattern '{}': {}", name.substr(0, 60), why));
}

Options parse_options(const std::vector<std::string_view>& words, std::string_view name) {
  Options options;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "wrap") {
      options.wrap = true;
    } else if (words[i] == "weighted") {
      options.weighted = true;
    } else if (words[i] == "corners") {
      options.corners = true;
    } else {
      fail(name, fmt::format("'{}' is none of wrap, weighted and corners", words[i].substr(0, 40)));
    }
  }
  return options;
}

Traffic stencil(const std::vector<int>& dims, const Options& options, Memory memory) {
  std::vector<StencilDirection> directions;
  if (options.corners) {
    constexpr std::uint64_t cells_per_side = 64;
    directions = box_directions(std::vector<std::uint64_t>(dims.size(), cells_per_side), 1, 8, true);
  } else {
    directions = face_directions(std::vector<std::uint64_t>(dims.size(), face_bytes));
  }
  for (StencilDirection& direction : directions) {
    if (options.weighted && direction.offset.front() != 0) direction.bytes *= 3;
  }
  return Traffic::from_stencil({.dims = dims,
                                .periodic = std::vector<bool>(dims.size(), options.wrap),
                                .directions = std::move(directions),
                                .memory = memory});
}

TrafficEntry entry(int from, int to, std::uint64_t bytes, Memory memory) {
  TrafficEntry out{.from = from, .to = to, .host = {}, .device = {}};
  (memory == Memory::host ? out.host : out.device) = {bytes, 1};
  return out;
}

Traffic collective(const std::vector<int>& dims, Memory memory) {
  const ProcessGrid grid(dims);
  std::vector<TrafficEntry> entries;
  for (int rank = 0; rank < grid.rank_count(); ++rank) {
    std::vector<int> at = grid.coordinates(rank);
    for (int other = 0; other < dims.front(); ++other) {
      at.front() = other;
      const int to = grid.rank_at(at, {});
      if (to != rank) entries.push_back(entry(rank, to, face_bytes, memory));
    }
  }
  return Traffic(grid.rank_count(), std::move(entries));
}

/// Domains between planes at uneven distances, as a load balancer leaves them: 20 to 44 units wide, with ghosts within a
/// cutoff of 3 and 32 bytes per unit of volume.
Traffic molecular_dynamics(const std::vector<int>& dims, Memory memory) {
  constexpr std::uint64_t cutoff = 3;
  constexpr std::uint64_t bytes_per_volume = 32;
  const ProcessGrid grid(dims);
  const std::vector<bool> periodic(dims.size(), true);
  Random random(17);
  std::vector<std::vector<std::uint64_t>> widths(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) {
    for (int i = 0; i < dims[d]; ++i) widths[d].push_back(20 + random.below(25));
  }
  const std::vector<StencilDirection> directions =
      box_directions(std::vector<std::uint64_t>(dims.size(), 1), 1, 1, true);
  std::vector<TrafficEntry> entries;
  for (int rank = 0; rank < grid.rank_count(); ++rank) {
    const std::vector<int> here = grid.coordinates(rank);
    for (const StencilDirection& direction : directions) {
      std::vector<int> there = here;
      std::uint64_t bytes = bytes_per_volume;
      for (std::size_t d = 0; d < dims.size(); ++d) {
        there[d] += direction.offset[d];
        bytes *= direction.offset[d] == 0 ? widths[d][here[d]] : cutoff;
      }
      entries.push_back(entry(rank, grid.rank_at(there, periodic), bytes, memory));
    }
  }
  return Traffic(grid.rank_count(), std::move(entries));
}

/// What a name asks for must fit memory. \param per_rank  messages of each rank
void check_size(std::string_view name, const std::vector<int>& dims, std::int64_t per_rank) {
  constexpr std::int64_t most_messages = 1 << 22;
  if (ProcessGrid(dims).rank_count() <= most_messages / per_rank) return;
  fail(name, fmt::format("more than {} messages", most_messages));
}

Pattern single_pattern(std::string_view name, Memory memory) {
  const std::vector<std::string_view> words = split(name, '-');
  if (words.size() < 2) fail(name, "it is not KIND-DIMS[-OPTION]..., such as 3d-8x8x8-wrap");
  const std::vector<int> dims = parse_dims(words[1], fmt::format("pattern '{}'", name.substr(0, 60)));
  const Options options = parse_options(words, name);
  const std::string_view kind = words[0];
  std::int64_t per_rank = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) per_rank *= 3;
  check_size(name, dims, kind == "coll" ? dims.front() : per_rank);
  if (kind == "2d" || kind == "3d") {
    const std::size_t wanted = kind == "2d" ? 2 : 3;
    if (dims.size() != wanted) fail(name, fmt::format("{} dimensions", dims.size()));
    return {std::string(name), stencil(dims, options, memory), dims};
  }
  if (words.size() > 2) fail(name, "options are for stencils");
  if (kind == "coll") return {std::string(name), collective(dims, memory), dims};
  if (kind == "md") return {std::string(name), molecular_dynamics(dims, memory), dims};
  fail(name, fmt::format("'{}' is none of 2d, 3d, coll and md", kind.substr(0, 40)));
}

}  // namespace

std::vector<int> parse_dims(std::string_view text, std::string_view what) {
  constexpr std::size_t most_dimensions = 6;
  std::vector<int> dims;
  for (const std::string_view word : split(text, 'x')) {
    int extent = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), extent);
    if (error != std::errc() || end != word.data() + word.size() || extent < 1 ||
        extent > Traffic::max_ranks || dims.size() == most_dimensions) {
      throw Error(ErrorKind::input, fmt::format("{}: '{}' is not up to {} numbers joined by x", what,
                                                text.substr(0, 40), most_dimensions));
    }
    dims.push_back(extent);
  }
  return dims;
}

Pattern pattern_named(std::string_view name) {
  const auto plus = name.find('+');
  if (plus == std::string_view::npos) return single_pattern(name, Memory::device);
  const Pattern host = single_pattern(name.substr(0, plus), Memory::host);
  Pattern both = single_pattern(name.substr(plus + 1), Memory::device);
  if (host.traffic.rank_count() != both.traffic.rank_count()) {
    fail(name, fmt::format("{} ranks and {} ranks", host.traffic.rank_count(), both.traffic.rank_count()));
  }
  both.name = name;
  both.traffic = both.traffic + host.traffic;
  return both;
}

}  // namespace selvage::topo
