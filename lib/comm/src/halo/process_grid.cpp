#include "process_grid.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>

namespace selvage::detail {
namespace {

/// Cells on all cut faces of the whole grid: what one exchange of width 1 moves in one direction.
std::int64_t cut_cells(const ProcessGridRequest& request, const std::vector<int>& ranks) {
  std::int64_t total = 0;
  for (std::size_t axis = 0; axis < ranks.size(); ++axis) {
    std::int64_t face = 1;
    for (std::size_t other = 0; other < ranks.size(); ++other) {
      if (other != axis) face *= request.cells[other];
    }
    const bool wraps = request.periodic[axis] && ranks[axis] > 1;
    total += face * (ranks[axis] - 1 + (wraps ? 1 : 0));
  }
  return total;
}

/// Tries all factorisations, axis by axis.
class Search {
 public:
  explicit Search(const ProcessGridRequest& request) : request_(request), current_(request.ranks.size(), 1) {}

  [[nodiscard]] std::vector<int> best() {
    visit(0, request_.rank_count);
    return best_;
  }

 private:
  void visit(std::size_t axis, int left) {
    if (axis == current_.size()) {
      if (left == 1) consider();
      return;
    }
    const int wanted = request_.ranks[axis];
    for (int parts = left; parts >= 1; --parts) {
      if (left % parts != 0 || parts > request_.cells[axis] || (wanted > 0 && wanted != parts)) continue;
      current_[axis] = parts;
      visit(axis + 1, left / parts);
    }
  }

  /// Candidates come with the most ranks on the first axes first, so that ties keep rows long.
  void consider() {
    const std::int64_t cut = cut_cells(request_, current_);
    if (cut >= least_cut_) return;
    least_cut_ = cut;
    best_ = current_;
  }

  const ProcessGridRequest& request_;
  std::vector<int> current_;
  std::vector<int> best_;
  std::int64_t least_cut_ = std::numeric_limits<std::int64_t>::max();
};

[[noreturn]] void throw_no_fit(const ProcessGridRequest& request) {
  const bool is_free = std::ranges::all_of(request.ranks, [](int ranks) { return ranks == 0; });
  const std::string wanted = is_free ? "" : fmt::format(" as {} (0 = free)", fmt::join(request.ranks, " x "));
  throw Error(
      ErrorKind::input,
      fmt::format("{} can't share a grid of {} cells{}: the ranks per axis must multiply to {} and no "
                  "axis may have more ranks than cells",
                  counted(request.rank_count, "rank"), fmt::join(request.cells, " x "), wanted,
                  request.rank_count));
}

}  // namespace

std::vector<int> choose_process_grid(const ProcessGridRequest& request) {
  for (const int ranks : request.ranks) {
    if (ranks < 0) throw_no_fit(request);
  }
  std::vector<int> best = Search(request).best();
  if (best.empty()) throw_no_fit(request);
  return best;
}

}  // namespace selvage::detail
