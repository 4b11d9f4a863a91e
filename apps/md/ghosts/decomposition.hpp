#pragma once

#include "md/ghosts/domain.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace selvage::md {

/// The box cut by planes into one box per rank: into slabs across x, each slab across y by planes of its own, and each of
/// those columns across z. Ranks count with x fastest. Host memory; the same on all ranks but for place().
class Decomposition {
 public:
  /// How finely balance() sees where atoms lie: bins along an axis of the whole box.
  static constexpr int bins = 1024;

  /// Counts atoms of all ranks along an axis: `bins` numbers for each row of planes(axis), the bins going from the whole
  /// box's lower to its upper side. Planes of earlier axes are those to be used.
  using CountAtoms = std::function<std::vector<std::int64_t>(const Decomposition& so_far, int axis)>;

  /// A box, or an image of one, that lies near this rank's.
  struct Neighbour {
    int rank;
    std::array<double, 3> shift;  ///< what an atom of this rank is moved by to be a ghost there
    Domain reach;                 ///< where atoms of this rank have a ghost there
  };

  /// Equal boxes.
  /// \param counts  boxes along x, y, z; nothing: those of the smallest surface
  /// \throws Error{input} for counts that don't make as many boxes as there are ranks
  Decomposition(const Domain& domain, int ranks, int rank,
                const std::optional<std::array<int, 3>>& counts = {});

  [[nodiscard]] const Domain& domain() const { return domain_; }
  [[nodiscard]] const std::array<int, 3>& ranks() const { return ranks_; }
  /// Where this rank lies among them.
  [[nodiscard]] const std::array<int, 3>& place() const { return place_; }
  [[nodiscard]] int rank_at(const std::array<int, 3>& place) const {
    return (place[2] * ranks_[1] + place[1]) * ranks_[0] + place[0];
  }
  [[nodiscard]] Domain box() const { return box_at(place_); }
  [[nodiscard]] Domain box_at(const std::array<int, 3>& place) const;

  /// Rows of ranks()[axis] + 1 planes from side to side: one row across x, one per slab across y, one per column
  /// across z, columns counted with x fastest.
  [[nodiscard]] const std::vector<double>& planes(int axis) const { return planes_[axis]; }
  [[nodiscard]] int rows(int axis) const {
    return axis == 0 ? 1 : axis == 1 ? ranks_[0] : ranks_[0] * ranks_[1];
  }

  /// Moves all planes so that each slab, column and box holds the same share of atoms, as far as bins tell and planes may
  /// come near each other. Counts are whole numbers, so all ranks find the same planes.
  /// \param least  how far apart planes stay, at most the equal boxes' shortest side
  /// \param count  called for x, y and z in turn; collective if it is
  /// \return whether any plane moved
  bool balance(double least, const CountAtoms& count);

  /// All boxes and images within `width` of this rank's box, by rank. \param width  at most the domain's shortest side
  [[nodiscard]] std::vector<Neighbour> neighbours(double width) const;

  /// "2 x 2 x 1 boxes with sides of 9.5 to 30.8 sigma"
  [[nodiscard]] std::string describe() const;

 private:
  void set_equal_planes(int axis);

  Domain domain_;
  std::array<int, 3> ranks_{};
  std::array<int, 3> place_{};
  std::array<std::vector<double>, 3> planes_;
};

}  // namespace selvage::md
