#include "md/ghosts/decomposition.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

namespace selvage::md {
namespace {

std::array<int, 3> smallest_surface(const Domain& domain, int ranks) {
  std::array<int, 3> best{ranks, 1, 1};
  double least = std::numeric_limits<double>::infinity();
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      const int z = ranks / x / y;
      const double a = domain.length(0) / x;
      const double b = domain.length(1) / y;
      const double c = domain.length(2) / z;
      const double surface = a * b + b * c + c * a;
      if (surface >= least) continue;
      least = surface;
      best = {x, y, z};
    }
  }
  return best;
}

std::array<int, 3> checked(const std::array<int, 3>& counts, int ranks) {
  // No whole number need hold what was typed.
  const double boxes = static_cast<double>(counts[0]) * counts[1] * counts[2];
  if (boxes == ranks) return counts;
  throw Error(ErrorKind::input, fmt::format("comm.ranks_grid {} is for {:g} ranks, and there {} {}",
                                            fmt::join(counts, "x"), boxes, ranks == 1 ? "is" : "are", ranks));
}

/// Planes from `lower` to `upper` with as many atoms between any two, at least `least` apart.
std::vector<double> even_planes(double lower, double upper, int parts, double least,
                                std::span<const std::int64_t> counts) {
  const auto atoms = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const double bin_length = (upper - lower) / static_cast<double>(counts.size());
  std::vector<double> planes(static_cast<std::size_t>(parts) + 1, upper);
  planes[0] = lower;
  std::size_t bin = 0;
  std::int64_t before = 0;  // atoms in earlier bins
  for (int part = 1; part < parts; ++part) {
    const double wanted = static_cast<double>(atoms) * part / parts;
    while (static_cast<double>(before + counts[bin]) < wanted) before += counts[bin++];
    const double share = (wanted - static_cast<double>(before)) / static_cast<double>(counts[bin]);
    planes[part] = lower + bin_length * (static_cast<double>(bin) + share);
  }
  for (int i = 1; i < parts; ++i) planes[i] = std::max(planes[i], planes[i - 1] + least);
  for (int i = parts - 1; i > 0; --i) planes[i] = std::min(planes[i], planes[i + 1] - least);
  return planes;
}

/// Whether two boxes come nearer to each other than `width`, the second moved by `shift`.
bool are_near(const Domain& a, const Domain& b, const std::array<double, 3>& shift, double width) {
  for (int axis = 0; axis < 3; ++axis) {
    if (b.lower[axis] + shift[axis] - width >= a.upper[axis]) return false;
    if (b.upper[axis] + shift[axis] + width <= a.lower[axis]) return false;
  }
  return true;
}

}  // namespace

Decomposition::Decomposition(const Domain& domain, int ranks, int rank,
                             const std::optional<std::array<int, 3>>& counts)
    : domain_(domain), ranks_(counts ? checked(*counts, ranks) : smallest_surface(domain, ranks)) {
  place_ = {rank % ranks_[0], rank / ranks_[0] % ranks_[1], rank / (ranks_[0] * ranks_[1])};
  for (int axis = 0; axis < 3; ++axis) set_equal_planes(axis);
}

void Decomposition::set_equal_planes(int axis) {
  planes_[axis].clear();
  for (int row = 0; row < rows(axis); ++row) {
    for (int i = 0; i < ranks_[axis]; ++i)
      planes_[axis].push_back(domain_.lower[axis] + domain_.length(axis) * i / ranks_[axis]);
    planes_[axis].push_back(domain_.upper[axis]);
  }
}

Domain Decomposition::box_at(const std::array<int, 3>& place) const {
  const std::array<int, 3> row{0, place[0], place[1] * ranks_[0] + place[0]};
  Domain box;
  for (int axis = 0; axis < 3; ++axis) {
    const int first = row[axis] * (ranks_[axis] + 1) + place[axis];
    box.lower[axis] = planes_[axis][first];
    box.upper[axis] = planes_[axis][first + 1];
  }
  return box;
}

bool Decomposition::balance(double least, const CountAtoms& count) {
  const auto before = planes_;
  for (int axis = 0; axis < 3; ++axis) {
    if (ranks_[axis] == 1) continue;
    set_equal_planes(axis);
    const std::vector<std::int64_t> counts = count(*this, axis);
    for (int row = 0; row < rows(axis); ++row) {
      const auto own = std::span(counts).subspan(static_cast<std::size_t>(row) * bins, bins);
      // Where nothing lies, planes stay equal.
      if (std::ranges::all_of(own, [](std::int64_t atoms) { return atoms == 0; })) continue;
      const auto even = even_planes(domain_.lower[axis], domain_.upper[axis], ranks_[axis], least, own);
      std::ranges::copy(even, planes_[axis].begin() + row * (ranks_[axis] + 1));
    }
  }
  return planes_ != before;
}

std::vector<Decomposition::Neighbour> Decomposition::neighbours(double width) const {
  const Domain own = box();
  const int self = rank_at(place_);
  const int ranks = ranks_[0] * ranks_[1] * ranks_[2];
  std::vector<Neighbour> near;
  for (int rank = 0; rank < ranks; ++rank) {
    const Domain other =
        box_at({rank % ranks_[0], rank / ranks_[0] % ranks_[1], rank / (ranks_[0] * ranks_[1])});
    for (int image = 0; image < 27; ++image) {
      const std::array<double, 3> moved{(image % 3 - 1) * domain_.length(0),
                                        (image / 3 % 3 - 1) * domain_.length(1),
                                        (image / 9 - 1) * domain_.length(2)};
      const bool is_own_box = rank == self && image == 13;
      if (is_own_box || !are_near(own, other, moved, width)) continue;
      Neighbour neighbour{rank, {-moved[0], -moved[1], -moved[2]}, {}};
      for (int axis = 0; axis < 3; ++axis) {
        neighbour.reach.lower[axis] = other.lower[axis] + moved[axis] - width;
        neighbour.reach.upper[axis] = other.upper[axis] + moved[axis] + width;
      }
      near.push_back(neighbour);
    }
  }
  return near;
}

std::string Decomposition::describe() const {
  double shortest = std::numeric_limits<double>::infinity();
  double longest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    for (std::size_t i = 1; i < planes_[axis].size(); ++i) {
      if (i % static_cast<std::size_t>(ranks_[axis] + 1) == 0) continue;  // from one row to the next
      shortest = std::min(shortest, planes_[axis][i] - planes_[axis][i - 1]);
      longest = std::max(longest, planes_[axis][i] - planes_[axis][i - 1]);
    }
  }
  return fmt::format("{} x {} x {} boxes with sides of {:.4g} to {:.4g} sigma", ranks_[0], ranks_[1],
                     ranks_[2], shortest, longest);
}

}  // namespace selvage::md
