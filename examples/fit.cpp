// Data-parallel gradient descent: each rank has samples of its own. The gradient of one layer is averaged over all ranks
// while those of the others are still being computed. The "layers" are rows of a linear model, fitted to data made by
// known rows.
#include <selvage/comm/gradient_buckets.hpp>

#include <Kokkos_Random.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Team = Kokkos::TeamPolicy<Space>::member_type;
using Row = Kokkos::View<double*, Memory>;
using Samples = Kokkos::View<double**, Memory>;

constexpr int layers = 8, inputs = 32, samples_per_rank = 256;
constexpr double learning_rate = 0.5;

KOKKOS_FUNCTION double true_weight(int layer, int input) {
  return Kokkos::sin(1.0 + layer + 10.0 * input);
}

struct Data {
  Samples x;
  Row residuals;
};

/// Of half the mean squared error of this rank's samples, with respect to the row's weights.
void compute_gradient(const Space& space, const Data& data, int layer, const Row& weights,
                      const Row& gradient) {
  const Samples x = data.x;
  const Row residuals = data.residuals;
  Kokkos::parallel_for(
      "residuals", Kokkos::RangePolicy<Space>(space, 0, samples_per_rank), KOKKOS_LAMBDA(int sample) {
        double difference = 0;
        for (int i = 0; i < inputs; ++i) difference += (weights(i) - true_weight(layer, i)) * x(sample, i);
        residuals(sample) = difference;
      });
  Kokkos::parallel_for(
      "gradient", Kokkos::TeamPolicy<Space>(space, inputs, Kokkos::AUTO), KOKKOS_LAMBDA(const Team& team) {
        const int i = team.league_rank();
        double sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, samples_per_rank),
            [&](int sample, double& partial) { partial += residuals(sample) * x(sample, i); }, sum);
        Kokkos::single(Kokkos::PerTeam(team), [&] { gradient(i) = sum / samples_per_rank; });
      });
}

void descend(const Space& space, const Row& weights, const Row& gradient) {
  Kokkos::parallel_for(
      "descend", Kokkos::RangePolicy<Space>(space, 0, inputs),
      KOKKOS_LAMBDA(int i) { weights(i) -= learning_rate * gradient(i); });
}

double largest_error(const Space& space, int layer, const Row& weights) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "error", Kokkos::RangePolicy<Space>(space, 0, inputs),
      KOKKOS_LAMBDA(int i, double& error) {
        error = Kokkos::max(error, Kokkos::abs(weights(i) - true_weight(layer, i)));
      },
      Kokkos::Max<double>(largest));
  return largest;
}

int run(int steps) {
  const Space space;
  const selvage::Context context(MPI_COMM_WORLD);
  const Data data{Samples("samples", samples_per_rank, inputs), Row("residuals", samples_per_rank)};
  const Kokkos::Random_XorShift64_Pool<Space> random(1 + context.rank());
  Kokkos::fill_random(space, data.x, random, -1.0, 1.0);
  std::vector<Row> weights, gradients;
  for (int layer = 0; layer < layers; ++layer) {
    weights.emplace_back("weights", inputs);
    gradients.emplace_back("gradient", inputs);
  }

  // --8<-- [start:steps]
  // The buckets hold two rows each here; the default of 25 MB is meant for models of millions of weights.
  selvage::GradientBuckets buckets(space, context, {.bucket_bytes = 2 * inputs * sizeof(double)}, gradients);
  for (int step = 0; step < steps; ++step) {
    for (int layer = layers - 1; layer >= 0; --layer) {
      compute_gradient(space, data, layer, weights[layer], gradients[layer]);
      buckets.ready(space, layer);
    }
    buckets.finish(space);
    for (int layer = 0; layer < layers; ++layer) descend(space, weights[layer], gradients[layer]);
  }
  // --8<-- [end:steps]

  double error = 0;
  for (int layer = 0; layer < layers; ++layer)
    error = std::max(error, largest_error(space, layer, weights[layer]));
  buckets.check();
  if (context.rank() == 0) std::fputs(buckets.explain().c_str(), stdout);
  std::printf("rank %d: largest error of a weight %.17g\n", context.rank(),
              error);  // the same bits on all ranks
  return error < 1e-6 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = EXIT_FAILURE;
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    code = run(200);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fit: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);  // other ranks may wait for this one
  }
  MPI_Finalize();
  return code;
}
