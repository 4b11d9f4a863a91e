#pragma once

// Three substances that diffuse through each other, on a periodic box: a step reads 26 neighbouring cells of each, so every rank exchanges
// sides, edges and corners of three arrays. With messages by hand, all at once or axis by axis, and with Selvage.
#include "../../examples/heat/by_hand.hpp"
#include "messages.hpp"

#include <selvage/comm/box.hpp>
#include <selvage/comm/context.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <mpi.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace selvage::bench {

constexpr int substances = 3;

/// With one layer of ghosts: a rank's cells begin at {1, 1, 1}.
struct Mixture {
  heat::Field of[substances];
};

using CellBox = std::array<std::array<int, 3>, 2>;  ///< begin and end

[[nodiscard]] inline Kokkos::MDRangePolicy<heat::Space, Kokkos::Rank<3>> cells_in(const heat::Space& space,
                                                                                  const CellBox& box) {
  return heat::cells(space, box[0], box[1]);
}

struct DiffuseMixture {
  Mixture u, v;
  KOKKOS_FUNCTION void operator()(int i, int j, int k) const {
    for (int s = 0; s < substances; ++s) {
      double sum = 0;
      for (int a = -1; a <= 1; ++a) {
        for (int b = -1; b <= 1; ++b)
          sum += u.of[s](i + a, j + b, k - 1) + u.of[s](i + a, j + b, k) + u.of[s](i + a, j + b, k + 1);
      }
      v.of[s](i, j, k) = diffused(sum, u.of[s](i, j, k), u.of[(s + 1) % substances](i, j, k));
    }
  }
  KOKKOS_FUNCTION static double diffused(double sum, double own, double next) {
    return own + 0.2 * (sum / 27 - own) + 0.01 * (next - own);
  }
};
/// A row, in a loop that compilers vectorize; of hosts' arrays, whose rows are contiguous.
struct DiffuseRow {
  DiffuseMixture cell;
  int begin, end;
  KOKKOS_FUNCTION void operator()(int i, int j) const {
    for (int s = 0; s < substances; ++s) {
      const heat::Field& u = cell.u.of[s];
      const double *a = &u(i - 1, j - 1, 0), *b = &u(i - 1, j, 0), *c = &u(i - 1, j + 1, 0);
      const double *d = &u(i, j - 1, 0), *e = &u(i, j, 0), *f = &u(i, j + 1, 0);
      const double *g = &u(i + 1, j - 1, 0), *h = &u(i + 1, j, 0), *l = &u(i + 1, j + 1, 0);
      const double* other = &cell.u.of[(s + 1) % substances](i, j, 0);
      double* KOKKOS_RESTRICT next = &cell.v.of[s](i, j, 0);
      const auto three = [](const double* row, int k) { return row[k - 1] + row[k] + row[k + 1]; };
      for (int k = begin; k < end; ++k) {
        const double sum = three(a, k) + three(b, k) + three(c, k) + three(d, k) + three(e, k) + three(f, k) +
                           three(g, k) + three(h, k) + three(l, k);
        next[k] = DiffuseMixture::diffused(sum, e[k], other[k]);
      }
    }
  }
};

/// The kernel of all forms, so that they differ in communication alone.
inline void diffuse(const heat::Space& space, const CellBox& box, const Mixture& u, const Mixture& v) {
  using Rows = Kokkos::MDRangePolicy<heat::Space, Kokkos::Rank<2>>;
  if (heat::on_host) {
    Kokkos::parallel_for("mixture::diffuse", Rows(space, {box[0][0], box[0][1]}, {box[1][0], box[1][1]}),
                         DiffuseRow{{u, v}, box[0][2], box[1][2]});
  } else {
    Kokkos::parallel_for("mixture::diffuse", cells_in(space, box), DiffuseMixture{u, v});
  }
}

struct FillMixture {
  Mixture u;
  std::array<int, 3> first;  ///< this rank's first cell, in the whole box
  KOKKOS_FUNCTION void operator()(int i, int j, int k) const {
    for (int s = 0; s < substances; ++s)
      u.of[s](i, j, k) = heat::initial_heat({first[0] + i + s, first[1] + j, first[2] + k});
  }
};

using PackedMixture = Kokkos::View<double****, Kokkos::LayoutRight, heat::Space>;  // substance, then cells

// Outside the class, since nvcc wants kernels' functors public.
struct PackMixture {
  PackedMixture packed;
  Mixture u;
  std::array<int, 3> begin;
  KOKKOS_FUNCTION void operator()(int i, int j, int k) const {
    for (int s = 0; s < substances; ++s)
      packed(s, i, j, k) = u.of[s](begin[0] + i, begin[1] + j, begin[2] + k);
  }
};
struct UnpackMixture {
  PackedMixture packed;
  Mixture u;
  std::array<int, 3> begin;
  KOKKOS_FUNCTION void operator()(int i, int j, int k) const {
    for (int s = 0; s < substances; ++s)
      u.of[s](begin[0] + i, begin[1] + j, begin[2] + k) = packed(s, i, j, k);
  }
};

class MixtureByHand {
 public:
  enum class Way {
    all_at_once,   ///< a message to each of 26 neighbours
    axis_by_axis,  ///< two messages per axis, which take along what came before
  };
  /// What is computed while the messages travel, of several axes the first ones.
  using Meanwhile = heat::ByHand::Meanwhile;

  /// Collective. \param n  cells of a rank along each axis
  MixtureByHand(MPI_Comm comm, int n, std::array<int, 3> ranks, Way way, Messages messages,
                Meanwhile meanwhile);
  MixtureByHand(const MixtureByHand&) = delete;
  MixtureByHand& operator=(const MixtureByHand&) = delete;
  ~MixtureByHand() { MPI_Comm_free(&comm_); }

  void step();
  [[nodiscard]] const Mixture& mixture() const { return u_; }

 private:
  using Packed = PackedMixture;
  using OnHost = decltype(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), Packed()));
  struct Cut {
    CellBox cells;
    Packed packed;
    OnHost on_host;  ///< the same on hosts
  };
  struct Message {
    int neighbour;
    int tag_out, tag_in;
    Cut out, in;
  };
  void add_phases(Way way);
  [[nodiscard]] Message message(const std::array<int, 3>& direction, int axes_with_ghosts) const;
  [[nodiscard]] static Cut cut(const CellBox& cells);
  [[nodiscard]] static CellBox whole(const Cut& cut) {
    return {{{0, 0, 0}, {cut.packed.extent_int(1), cut.packed.extent_int(2), cut.packed.extent_int(3)}}};
  }
  [[nodiscard]] double* data(const Cut& cut) const {
    return messages_ == Messages::staged ? cut.on_host.data() : cut.packed.data();
  }
  void begin(std::vector<Message>& messages);
  void end(std::vector<Message>& messages);
  void update(const CellBox& box) const { diffuse(space_, box, u_, v_); }

  MPI_Comm comm_ = MPI_COMM_NULL;
  heat::Space space_;
  int n_;
  Messages messages_;
  bool overlaps_;
  Mixture u_, v_;
  std::vector<std::vector<Message>> phases_;
  std::vector<MPI_Request> requests_;
};

inline MixtureByHand::MixtureByHand(MPI_Comm comm, int n, std::array<int, 3> ranks, Way way,
                                    Messages messages, Meanwhile meanwhile)
    : n_(n), messages_(messages), overlaps_(meanwhile == Meanwhile::inner_cells) {
  const std::array<int, 3> periodic{1, 1, 1};
  MPI_Cart_create(comm, 3, ranks.data(), periodic.data(), 0, &comm_);
  for (Mixture* mixture : {&u_, &v_}) {
    for (heat::Field& field : mixture->of) field = heat::Field("substance", n + 2, n + 2, n + 2);
  }
  add_phases(way);
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  std::array<int, 3> place{};
  MPI_Cart_coords(comm_, rank, 3, place.data());
  Kokkos::parallel_for("by_hand::fill", cells_in(space_, {{{1, 1, 1}, {n + 1, n + 1, n + 1}}}),
                       FillMixture{u_, {place[0] * n - 1, place[1] * n - 1, place[2] * n - 1}});
}

inline void MixtureByHand::add_phases(Way way) {
  if (way == Way::axis_by_axis) {
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<Message>& messages = phases_.emplace_back();
      for (const int step : {-1, 1}) {
        std::array<int, 3> direction{};
        direction[static_cast<std::size_t>(axis)] = step;
        messages.push_back(message(direction, axis));
      }
    }
    return;
  }
  std::vector<Message>& messages = phases_.emplace_back();
  for (int code = 0; code < 27; ++code) {
    if (code != 13) messages.push_back(message({code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1}, 0));
  }
}

/// \param axes_with_ghosts  along how many axes, the first ones, ghosts travel too
inline MixtureByHand::Message MixtureByHand::message(const std::array<int, 3>& direction,
                                                     int axes_with_ghosts) const {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  std::array<int, 3> place{};
  MPI_Cart_coords(comm_, rank, 3, place.data());
  CellBox out{}, in{};
  int tag = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool with_ghosts = static_cast<int>(axis) < axes_with_ghosts;
    const int step = direction[axis];
    place[axis] += step;  // MPI_Cart_rank wraps it
    tag = 3 * tag + step + 1;
    out[0][axis] = step > 0 ? n_ : with_ghosts ? 0 : 1;
    out[1][axis] = step < 0 ? 2 : with_ghosts ? n_ + 2 : n_ + 1;
    in[0][axis] = step > 0 ? n_ + 1 : step < 0 ? 0 : out[0][axis];
    in[1][axis] = step > 0 ? n_ + 2 : step < 0 ? 1 : out[1][axis];
    if (step > 0) out[1][axis] = n_ + 1;
    if (step < 0) out[0][axis] = 1;
  }
  Message made{0, tag, 26 - tag, cut(out), cut(in)};
  MPI_Cart_rank(comm_, place.data(), &made.neighbour);
  return made;
}

inline MixtureByHand::Cut MixtureByHand::cut(const CellBox& cells) {
  Cut made{cells,
           Packed("packed", substances, cells[1][0] - cells[0][0], cells[1][1] - cells[0][1],
                  cells[1][2] - cells[0][2]),
           {}};
  made.on_host = Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), made.packed);
  return made;
}

inline void MixtureByHand::step() {
  begin(phases_.front());
  if (overlaps_) update({{{2, 2, 2}, {n_, n_, n_}}});
  end(phases_.front());
  for (std::size_t phase = 1; phase < phases_.size(); ++phase) {
    begin(phases_[phase]);
    end(phases_[phase]);
  }
  if (overlaps_) {
    update({{{1, 1, 1}, {2, n_ + 1, n_ + 1}}});
    update({{{n_, 1, 1}, {n_ + 1, n_ + 1, n_ + 1}}});
    update({{{2, 1, 1}, {n_, 2, n_ + 1}}});
    update({{{2, n_, 1}, {n_, n_ + 1, n_ + 1}}});
    update({{{2, 2, 1}, {n_, n_, 2}}});
    update({{{2, 2, n_}, {n_, n_, n_ + 1}}});
  } else {
    update({{{1, 1, 1}, {n_ + 1, n_ + 1, n_ + 1}}});
  }
  std::swap(u_, v_);
}

inline void MixtureByHand::begin(std::vector<Message>& messages) {
  for (Message& message : messages) {
    Kokkos::parallel_for("by_hand::pack", cells_in(space_, whole(message.out)),
                         PackMixture{message.out.packed, u_, message.out.cells[0]});
    if (messages_ == Messages::staged) Kokkos::deep_copy(space_, message.out.on_host, message.out.packed);
  }
  // Now all is packed, and nothing reads any more what arrived last time.
  space_.fence();
  requests_.clear();
  for (Message& message : messages) {
    MPI_Irecv(data(message.in), static_cast<int>(message.in.packed.size()), MPI_DOUBLE, message.neighbour,
              message.tag_in, comm_, &requests_.emplace_back());
  }
  for (Message& message : messages) {
    MPI_Isend(data(message.out), static_cast<int>(message.out.packed.size()), MPI_DOUBLE, message.neighbour,
              message.tag_out, comm_, &requests_.emplace_back());
  }
}

inline void MixtureByHand::end(std::vector<Message>& messages) {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  for (Message& message : messages) {
    if (messages_ == Messages::staged) Kokkos::deep_copy(space_, message.in.packed, message.in.on_host);
    Kokkos::parallel_for("by_hand::unpack", cells_in(space_, whole(message.in)),
                         UnpackMixture{message.in.packed, u_, message.in.cells[0]});
  }
}

class MixtureWithSelvage {
 public:
  /// Collective. \param n  cells of a rank along each axis
  MixtureWithSelvage(const Context& context, int n, const std::array<int, 3>& ranks)
      : grid_(context, {.cells = {n * ranks[0], n * ranks[1], n * ranks[2]},
                        .periodic = {true, true, true},
                        .ranks = {ranks[0], ranks[1], ranks[2]}}),
        u_(allocate()),
        v_(allocate()),
        halo_(space_, grid_, {.ghost_reuse = GhostReuse::alternating}, u_.of[0], u_.of[1], u_.of[2], v_.of[0],
              v_.of[1], v_.of[2]),
        inner_(grid_.shrunk(grid_.local_box(1), 1)),
        edges_(without(grid_.local_box(1), inner_)),
        overlaps_(heat::overlap_pays(context)) {
    const auto first = grid_.box().begin;
    Kokkos::parallel_for("with_selvage::fill", cells_in(space_, {{{1, 1, 1}, {n + 1, n + 1, n + 1}}}),
                         FillMixture{u_,
                                     {static_cast<int>(first[0]) - 1, static_cast<int>(first[1]) - 1,
                                      static_cast<int>(first[2]) - 1}});
  }

  void step() {
    if (overlaps_) {
      auto pending = halo_.start(space_, u_.of[0], u_.of[1], u_.of[2]);
      update(inner_);
      halo_.finish(space_, std::move(pending));
      for (const Box<3>& edge : edges_) update(edge);
    } else {
      halo_.exchange(space_, u_.of[0], u_.of[1], u_.of[2]);
      update(grid_.local_box(1));
    }
    std::swap(u_, v_);
  }
  [[nodiscard]] const Mixture& mixture() const { return u_; }

 private:
  [[nodiscard]] Mixture allocate() const {
    Mixture made;
    for (heat::Field& field : made.of) field = grid_.allocate<double>("substance", 1);
    return made;
  }
  void update(const Box<3>& box) const {
    CellBox cells{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      cells[0][axis] = static_cast<int>(box.begin[axis]);
      cells[1][axis] = static_cast<int>(box.end[axis]);
    }
    diffuse(space_, cells, u_, v_);
  }

  heat::Space space_;
  Grid<3> grid_;
  Mixture u_, v_;
  HaloExchange halo_;
  Box<3> inner_;
  std::vector<Box<3>> edges_;
  bool overlaps_;
};

}  // namespace selvage::bench
