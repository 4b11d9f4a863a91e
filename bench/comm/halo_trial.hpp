#pragma once

#include "../support/figure.hpp"
#include "../support/on_host.hpp"
#include "packed_faces.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace selvage::bench {

struct Shape {
  std::string name;
  std::array<std::int64_t, 3> cells_per_rank;
  std::array<int, 3> ranks;  ///< 0 where free
};

/// Two alternating Views on one grid, and every way to exchange them: ours as a user gets it and in each of its forms, also in
/// CUDA graphs where they can be captured, and the same written by hand over MPI and NCCL.
class HaloTrial {
 public:
  /// Collective.
  HaloTrial(const Context& context, const Shape& shape);
  HaloTrial(const HaloTrial&) = delete;
  HaloTrial& operator=(const HaloTrial&) = delete;

  /// The default first. What it calls is this.
  [[nodiscard]] Figure figure() const { return {.contenders = contenders_, .label = label_}; }

 private:
  void add_ours(const std::string& name, const HaloOptions<3>& options, bool can_be_captured);
  void add_forms();
  void add_packed();
  [[nodiscard]] bool mpi_takes_gpu_memory() const;
  void add_datatypes();
  void add_shared_window();
  void add_nccl(const Context& context);
  void add_graph(const std::string& name);
  void add_copy();
  /// \param views  that it exchanges in turn
  void add(const std::string& name, std::function<void()> run, const std::array<HaloView, 2>& views,
           int units = 1);
  [[nodiscard]] FaceNeighbours face_neighbours() const;
  void verify(const std::string& name, const std::function<void()>& run,
              const std::array<HaloView, 2>& views);
  void fill(const HaloView& view) const;
  [[nodiscard]] int count_wrong(const HaloView& view) const;
  [[nodiscard]] bool has_owner(std::int64_t i, std::int64_t j, std::int64_t k) const;
  template <class Image, class Function>
  void for_each(const Image& image, const Function& function) const;

  Shape shape_;
  Grid<3> grid_;
  PackedFaces::Space space_;
  HaloView u_, v_;
  std::string label_;
  std::vector<Contender> contenders_;
};

}  // namespace selvage::bench
