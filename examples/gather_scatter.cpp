// Finite elements on an unstructured mesh: Poisson's equation by conjugate gradients. Triangles are shared out to ranks, so nodes
// between two parts belong to one rank and are ghosts on others. Before triangles are visited, gather() fills the ghosts. What they
// add to ghosts, scatter_add() adds to the nodes that these are ghosts of. An Allreduce sums the dot products.
#include "mesh/mesh.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/list_halo.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <string>
#include <utility>

using mesh::Space;
using Values = Kokkos::View<double*, mesh::Memory>;
using Sum = Kokkos::View<double, mesh::Memory>;
using Range = Kokkos::RangePolicy<Space>;

constexpr double pi = std::numbers::pi;

KOKKOS_FUNCTION double wave(double x, double y) {
  return Kokkos::sin(pi * x) * Kokkos::sin(pi * y);
}

template <class View>
KOKKOS_FUNCTION double twice_area(const View& x, const int (&node)[3]) {
  return (x(node[1], 0) - x(node[0], 0)) * (x(node[2], 1) - x(node[0], 1)) -
         (x(node[2], 0) - x(node[0], 0)) * (x(node[1], 1) - x(node[0], 1));
}

/// -div grad u = f in the square, u = 0 at its edge, by linear elements.
class Poisson {
 public:
  Poisson(const selvage::Context& context, const mesh::Mesh& whole)
      : part_(make_part(whole, context.rank())),
        halo_(space_, context, part_.owned, part_.send_ids, part_.send_ranks),
        product_("product"),
        sum_(space_, context, product_) {}

  [[nodiscard]] Values make_values(const std::string& label) const {
    return Values(label, part_.x.extent(0));
  }

  // --8<-- [start:apply]
  /// y = A p, at owned nodes. Ghosts of p are filled.
  void apply(const Values& p, const Values& y) {
    halo_.gather(space_, p);
    Kokkos::deep_copy(space_, y, 0.0);
    add_triangles(p, y);
    halo_.scatter_add(space_, y);
    clear_edge(y);
  }
  // --8<-- [end:apply]
  void add_triangles(const Values& p, const Values& y) const {
    const auto triangles = part_.triangles;
    const auto x = part_.x;
    Kokkos::parallel_for(
        "triangles", Range(space_, 0, static_cast<int>(triangles.extent(0))), KOKKOS_LAMBDA(int t) {
          const int node[3] = {triangles(t, 0), triangles(t, 1), triangles(t, 2)};
          double gradient[3][2], slope[2] = {};  // of each corner's hat function, and of p
          for (int i = 0; i < 3; ++i) {
            const int next = node[(i + 1) % 3], last = node[(i + 2) % 3];
            gradient[i][0] = (x(next, 1) - x(last, 1)) / twice_area(x, node);
            gradient[i][1] = (x(last, 0) - x(next, 0)) / twice_area(x, node);
            for (int axis = 0; axis < 2; ++axis) slope[axis] += p(node[i]) * gradient[i][axis];
          }
          for (int i = 0; i < 3; ++i) {
            const double flow = slope[0] * gradient[i][0] + slope[1] * gradient[i][1];
            Kokkos::atomic_add(&y(node[i]), twice_area(x, node) / 2 * flow);
          }
        });
  }
  /// y = f at each triangle's centre, a third of it for each corner.
  void load(const Values& y) {
    const auto triangles = part_.triangles;
    const auto x = part_.x;
    Kokkos::parallel_for(
        "load", Range(space_, 0, static_cast<int>(triangles.extent(0))), KOKKOS_LAMBDA(int t) {
          const int node[3] = {triangles(t, 0), triangles(t, 1), triangles(t, 2)};
          const double f = 2 * pi * pi *
                           wave((x(node[0], 0) + x(node[1], 0) + x(node[2], 0)) / 3,
                                (x(node[0], 1) + x(node[1], 1) + x(node[2], 1)) / 3);
          for (int i = 0; i < 3; ++i) Kokkos::atomic_add(&y(node[i]), f * twice_area(x, node) / 6);
        });
    halo_.scatter_add(space_, y);
    clear_edge(y);
  }
  void clear_edge(const Values& y) const {
    const auto x = part_.x;
    Kokkos::parallel_for(
        "edge", Range(space_, 0, part_.owned), KOKKOS_LAMBDA(int i) {
          const bool is_edge = x(i, 0) == 0 || x(i, 0) == 1 || x(i, 1) == 0 || x(i, 1) == 1;
          if (is_edge) y(i) = 0;
        });
  }
  /// y = y - the solution
  void subtract_solution(const Values& y) const {
    const auto x = part_.x;
    Kokkos::parallel_for(
        "solution", Range(space_, 0, part_.owned), KOKKOS_LAMBDA(int i) { y(i) -= wave(x(i, 0), x(i, 1)); });
  }
  // --8<-- [start:dot]
  double dot(const Values& a, const Values& b) {
    Kokkos::parallel_reduce(
        "dot", Range(space_, 0, part_.owned), KOKKOS_LAMBDA(int i, double& sum) { sum += a(i) * b(i); },
        product_);
    sum_.run(space_);
    double sum = 0;
    Kokkos::deep_copy(sum, product_);
    return sum;
  }
  // --8<-- [end:dot]
  /// y = alpha x + beta y
  void combine(double alpha, const Values& x, double beta, const Values& y) const {
    Kokkos::parallel_for(
        "combine", Range(space_, 0, part_.owned),
        KOKKOS_LAMBDA(int i) { y(i) = alpha * x(i) + beta * y(i); });
  }

  void check() const {
    halo_.check();
    sum_.check();
  }

 private:
  Space space_;
  mesh::Part part_;
  selvage::ListHalo halo_;
  Sum product_;
  selvage::Allreduce sum_;
};

int run(int n) {
  const selvage::Context context(MPI_COMM_WORLD);
  Poisson poisson(context, mesh::Mesh(n, context.size()));
  const Values u = poisson.make_values("u"), r = poisson.make_values("r"), p = poisson.make_values("p"),
               y = poisson.make_values("y");
  poisson.load(r);
  poisson.combine(1, r, 0, p);
  double squared = poisson.dot(r, r);
  int steps = 0;
  for (const double enough = 1e-20 * squared; squared > enough && steps < 10 * n; ++steps) {
    poisson.apply(p, y);
    const double alpha = squared / poisson.dot(p, y);
    poisson.combine(alpha, p, 1, u);
    poisson.combine(-alpha, y, 1, r);
    const double before = std::exchange(squared, poisson.dot(r, r));
    poisson.combine(1, r, squared / before, p);
  }
  poisson.check();
  poisson.subtract_solution(u);
  const double error = Kokkos::sqrt(poisson.dot(u, u)) / n;
  if (context.rank() == 0)
    std::printf("%d nodes along a side, %d steps: the mean error is %.2e\n", n + 1, steps, error);
  return error < 1.0 / n / n ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = EXIT_FAILURE;
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    code = run(48);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gather_scatter: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);  // other ranks may wait for this one
  }
  MPI_Finalize();
  return code;
}
