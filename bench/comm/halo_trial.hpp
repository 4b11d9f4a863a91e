#pragma once

#include "../support/records.hpp"
#include "../support/trial.hpp"
#include "packed_faces.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace selvage::bench {

inline constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, PackedFaces::Space::memory_space>::accessible;

struct Shape {
  std::string name;
  std::array<std::int64_t, 3> cells_per_rank;
  std::array<int, 3> ranks;  ///< 0 where free
  bool every_form_has_a_record = false;
};

/// "halo/box/fp64/128" and "4gpu" around what stands between them.
[[nodiscard]] std::string figure_name(const Shape& shape, const std::string& form, int ranks);

/// Two alternating Views on one grid, and every way to exchange them: ours, each also in a CUDA graph where it
/// can be captured, and the same written by hand over MPI and NCCL. Verified, then timed, when it is made.
class HaloTrial {
 public:
  /// Collective. \throws Error{verification}
  HaloTrial(const Context& context, const Shape& shape);

  [[nodiscard]] const Trial& trial() const { return *trial_; }
  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }
  /// The fastest of ours; then each of ours where the shape asks for it.
  [[nodiscard]] std::vector<Record> records() const;
  [[nodiscard]] const std::string& fastest_of_ours() const;

 private:
  void add_plain();
  [[nodiscard]] bool mpi_takes_gpu_memory() const;
  void add_nccl();
  void add_forms();
  void add_graph(const std::string& name);
  void add_copy();
  [[nodiscard]] FaceNeighbours face_neighbours() const;
  [[nodiscard]] Record record(const std::string& name, const std::string& contender) const;
  /// Takes turns between the Views.
  [[nodiscard]] bool turn() { return ++turn_ % 2 != 0; }

  void verify(const Contender& contender);
  void fill(const HaloView& view) const;
  [[nodiscard]] int count_wrong(const HaloView& view) const;
  [[nodiscard]] bool has_owner(std::int64_t i, std::int64_t j, std::int64_t k) const;
  template <class Image, class Function>
  void for_each(const Image& image, const Function& function) const;

  Shape shape_;
  Grid<3> grid_;
  PackedFaces::Space space_;
  HaloView u_, v_;
  int turn_ = 0;
  std::vector<Contender> contenders_;
  std::vector<std::string> ours_;
  std::unique_ptr<Trial> trial_;
};

}  // namespace selvage::bench
