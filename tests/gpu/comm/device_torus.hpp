#pragma once

#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <optional>
#include <string>

namespace selvage::test {

/// How a torus is cut and exchanged.
struct TorusCase {
  Transport transport = Transport::peer;
  GhostReuse reuse = GhostReuse::credit;
  bool by_columns =
      false;  ///< ranks side by side along the axis of single cells instead of that of long rows

  [[nodiscard]] std::string name() const {
    return std::string(to_string(transport)) +
           (reuse == GhostReuse::alternating ? "_alternating" : "_credit") +
           (by_columns ? "_by_columns" : "_by_rows");
  }
};

/// A cell that doesn't hold what it should.
struct Mistake {
  double round = 0;
  int row = 0;
  int column = 0;
  double found = 0;
  double wanted = 0;
};

/// Two Views on a torus of boxes in GPU memory. Everything is enqueued: values that change from round to
/// round, exchanges, and a count of what is wrong.
class DeviceTorus {
 public:
  using View = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::CudaSpace>;

  DeviceTorus(const Context& context, const TorusCase& torus) : DeviceTorus(Kokkos::Cuda(), context, torus) {}
  /// \param space        of the Context's GPU
  /// \param first_round  so that several tori of one process hold different values
  DeviceTorus(const Kokkos::Cuda& space, const Context& context, const TorusCase& torus,
              double first_round = 0)
      : space_(space),
        first_round_(first_round),
        grid_(context,
              {.cells = {torus.by_columns ? 64 : 4 * context.size(),
                         torus.by_columns ? 20 * context.size() : 700},
               .periodic = {true, true},
               .ranks = {torus.by_columns ? 1 : context.size(), torus.by_columns ? context.size() : 1}}),
        views_{grid_.allocate<double, Kokkos::LayoutRight>("u", 1),
               grid_.allocate<double, Kokkos::LayoutRight>("v", 1)} {
    Kokkos::deep_copy(space_, round_, first_round);
    space_.fence();
  }

  [[nodiscard]] const Grid<2>& grid() const { return grid_; }
  [[nodiscard]] const View& view(int round) const { return views_[round % 2]; }
  [[nodiscard]] HaloExchange plan(const Kokkos::Cuda& space, const TorusCase& torus,
                                  std::optional<Initiation> initiation = {}) const {
    return {space,
            grid_,
            {.ghost_reuse = torus.reuse, .transport = torus.transport, .initiation = initiation},
            views_[0],
            views_[1]};
  }

  /// Owned cells get values of the round that the device counts.
  void enqueue_fill(const Kokkos::Cuda& space, const View& field) const;
  /// Counts cells that don't hold the round's values, ghosts included, poisons the ghosts, and begins the next
  /// round.
  void enqueue_check(const Kokkos::Cuda& space, const View& field) const;

  [[nodiscard]] int wrong() const { return value_of(wrong_); }
  [[nodiscard]] double rounds() const { return value_of(round_) - first_round_; }
  /// Where a wrong cell was, for a test's message.
  [[nodiscard]] std::string one_mistake() const {
    const Mistake mistake = value_of(mistake_);
    return "wrong in round " + std::to_string(mistake.round - first_round_) + ": row " +
           std::to_string(mistake.row) + ", column " + std::to_string(mistake.column) +
           " of the torus held " + std::to_string(mistake.found) + ", not " + std::to_string(mistake.wanted);
  }

 private:
  /// By the torus's own instance, since other GPUs of the process may wait for other ranks.
  template <class View>
  [[nodiscard]] typename View::value_type value_of(const View& view) const {
    typename View::value_type value{};
    Kokkos::deep_copy(space_, value, view);
    space_.fence();
    return value;
  }

  using Policy = Kokkos::MDRangePolicy<Kokkos::Cuda, Kokkos::Rank<2>>;

  Kokkos::Cuda space_;
  double first_round_;
  Grid<2> grid_;
  std::array<View, 2> views_;
  Kokkos::View<double, Kokkos::CudaSpace> round_{Kokkos::view_alloc(space_, "round")};
  Kokkos::View<int, Kokkos::CudaSpace> wrong_{Kokkos::view_alloc(space_, "wrong")};
  Kokkos::View<Mistake, Kokkos::CudaSpace> mistake_{Kokkos::view_alloc(space_, "mistake")};
};

/// What a cell of the torus holds.
KOKKOS_INLINE_FUNCTION double torus_value(double round, int row, int column) {
  return round * 1e6 + row * 1e3 + column;
}

inline void DeviceTorus::enqueue_fill(const Kokkos::Cuda& space, const View& field) const {
  const auto rows = static_cast<int>(field.extent(0));
  const auto columns = static_cast<int>(field.extent(1));
  const auto first_row = static_cast<int>(grid_.box().begin[0]);
  const auto first_column = static_cast<int>(grid_.box().begin[1]);
  const auto round = round_;
  Kokkos::parallel_for(
      "test::fill", Policy(space, {1, 1}, {rows - 1, columns - 1}), KOKKOS_LAMBDA(int i, int j) {
        field(i, j) = torus_value(round(), first_row + i - 1, first_column + j - 1);
      });
}

inline void DeviceTorus::enqueue_check(const Kokkos::Cuda& space, const View& field) const {
  const auto rows = static_cast<int>(field.extent(0));
  const auto columns = static_cast<int>(field.extent(1));
  const auto first_row = static_cast<int>(grid_.box().begin[0]);
  const auto first_column = static_cast<int>(grid_.box().begin[1]);
  const auto all_rows = static_cast<int>(grid_.cells()[0]);
  const auto all_columns = static_cast<int>(grid_.cells()[1]);
  const auto round = round_;
  const auto wrong = wrong_;
  const auto mistake = mistake_;
  Kokkos::parallel_for(
      "test::check", Policy(space, {0, 0}, {rows, columns}), KOKKOS_LAMBDA(int i, int j) {
        const int row = (first_row + i - 1 + all_rows) % all_rows;
        const int column = (first_column + j - 1 + all_columns) % all_columns;
        const double found = field(i, j);
        const double wanted = torus_value(round(), row, column);
        if (found != wanted && Kokkos::atomic_fetch_add(&wrong(), 1) == 0)
          mistake() = {round(), row, column, found, wanted};
        const bool is_ghost = i == 0 || i == rows - 1 || j == 0 || j == columns - 1;
        if (is_ghost) field(i, j) = -1.0;
      });
  Kokkos::parallel_for(
      "test::next", Kokkos::RangePolicy<Kokkos::Cuda>(space, 0, 1), KOKKOS_LAMBDA(int) { round() += 1; });
}

/// Ranks that share a GPU take turns on it by time slices of milliseconds, so that they get fewer rounds.
inline bool shares_a_gpu(const Context& context) {
  for (int rank = 0; rank < context.size(); ++rank) {
    for (int other = 0; other < rank; ++other) {
      if (context.machine().same_gpu(rank, other)) return true;
    }
  }
  return false;
}

}  // namespace selvage::test
