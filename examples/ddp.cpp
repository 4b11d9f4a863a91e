// Data-parallel training as with PyTorch's DistributedDataParallel: every rank has the same network and samples of its own. While the
// gradients of earlier layers are computed, those of later ones are averaged over all ranks.
#include <selvage/comm/gradient_buckets.hpp>

#include <Kokkos_Random.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;

constexpr int batch = 64;  // samples of a rank in a step
constexpr float learning_rate = 0.2F;

/// A full layer: out = tanh(in weights), or in weights if it is the last one. A bias is the weight of an input that is 1.
struct Layer {
  Matrix weights, gradient, out, delta;
  bool is_last;

  Layer(int inputs, int outputs, bool last)
      : weights("weights", inputs + 1, outputs),
        gradient("gradient", inputs + 1, outputs),
        out("out", batch, outputs),
        delta("delta", batch, outputs),
        is_last(last) {}
};

/// The value of an input; the one behind the last is 1.
KOKKOS_FUNCTION float input(const Matrix& in, int sample, int i) {
  return i < in.extent_int(1) ? in(sample, i) : 1.0F;
}

Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>> all_of(const Space& space, const Matrix& matrix) {
  return {space, {0, 0}, {matrix.extent_int(0), matrix.extent_int(1)}};
}

void forward(const Space& space, const Layer& layer, const Matrix& in) {
  const Layer l = layer;
  Kokkos::parallel_for(
      "forward", all_of(space, l.out), KOKKOS_LAMBDA(int sample, int o) {
        float sum = 0;
        for (int i = 0; i < l.weights.extent_int(0); ++i) sum += input(in, sample, i) * l.weights(i, o);
        l.out(sample, o) = l.is_last ? sum : Kokkos::tanh(sum);
      });
}

/// The gradient of the layer's weights, from that of its sums.
void backward(const Space& space, const Layer& layer, const Matrix& in) {
  const Layer l = layer;
  Kokkos::parallel_for(
      "backward", all_of(space, l.weights), KOKKOS_LAMBDA(int i, int o) {
        float sum = 0;
        for (int sample = 0; sample < batch; ++sample) sum += input(in, sample, i) * l.delta(sample, o);
        l.gradient(i, o) = sum / batch;
      });
}

/// The gradient of the sums of the layer below.
void pass_down(const Space& space, const Layer& above, const Layer& below) {
  const Layer a = above, b = below;
  Kokkos::parallel_for(
      "pass_down", all_of(space, b.out), KOKKOS_LAMBDA(int sample, int o) {
        float sum = 0;
        for (int next = 0; next < a.out.extent_int(1); ++next)
          sum += a.weights(o, next) * a.delta(sample, next);
        b.delta(sample, o) = sum * (1 - b.out(sample, o) * b.out(sample, o));
      });
}

void descend(const Space& space, const Layer& layer) {
  const Layer l = layer;
  Kokkos::parallel_for(
      "descend", all_of(space, l.weights),
      KOKKOS_LAMBDA(int i, int o) { l.weights(i, o) -= learning_rate * l.gradient(i, o); });
}

/// Half the mean squared difference from the function to be learned; its gradient goes to the last layer.
double loss(const Space& space, const Layer& last, const Matrix& x) {
  const Layer l = last;
  double sum = 0;
  Kokkos::parallel_reduce(
      "loss", Kokkos::RangePolicy<Space>(space, 0, batch),
      KOKKOS_LAMBDA(int sample, double& partial) {
        l.delta(sample, 0) = l.out(sample, 0) - x(sample, 0) * x(sample, 1);
        partial += 0.5 * l.delta(sample, 0) * l.delta(sample, 0);
      },
      sum);
  return sum / batch;
}

int run(int steps) {
  const Space space;
  const selvage::Context context(MPI_COMM_WORLD);
  std::vector<Layer> layers{{2, 32, false}, {32, 32, false}, {32, 1, true}};
  std::vector<Matrix> gradients;
  const Kokkos::Random_XorShift64_Pool<Space> weights(1), samples(2 + context.rank());
  for (const Layer& layer : layers) {
    Kokkos::fill_random(space, layer.weights, weights, -0.5F, 0.5F);  // the same on all ranks
    gradients.push_back(layer.gradient);
  }
  const Matrix x("x", batch, 2);
  const auto below = [&](int layer) { return layer == 0 ? x : layers[layer - 1].out; };
  double first = 0, now = 0;

  // --8<-- [start:train]
  selvage::GradientBuckets buckets(space, context, {.bucket_bytes = 4096}, gradients);
  const int last = static_cast<int>(layers.size()) - 1;
  for (int step = 0; step < steps; ++step) {
    Kokkos::fill_random(space, x, samples, -1.0F, 1.0F);
    for (int layer = 0; layer <= last; ++layer) forward(space, layers[layer], below(layer));
    now = loss(space, layers[last], x);
    if (step == 0) first = now;
    for (int layer = last; layer >= 0; --layer) {
      backward(space, layers[layer], below(layer));
      buckets.ready(space, layer);
      if (layer > 0) pass_down(space, layers[layer], layers[layer - 1]);
    }
    buckets.finish(space);
    for (const Layer& layer : layers) descend(space, layer);
  }
  // --8<-- [end:train]
  buckets.check();

  // All ranks have the same bits.
  const auto mine = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), layers[0].weights);
  auto of_rank_0 = Kokkos::create_mirror(mine);
  Kokkos::deep_copy(of_rank_0, mine);
  MPI_Bcast(of_rank_0.data(), static_cast<int>(of_rank_0.size()), MPI_FLOAT, 0, context.comm());
  bool is_same = true;
  for (std::size_t i = 0; i < mine.size(); ++i) is_same = is_same && mine.data()[i] == of_rank_0.data()[i];
  std::printf("rank %d: loss %.5f at first, %.5f after %d steps; weights are %s\n", context.rank(), first,
              now, steps, is_same ? "rank 0's" : "NOT rank 0's");
  return is_same && now < 0.1 * first ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = EXIT_FAILURE;
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    code = run(500);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ddp: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);  // other ranks may wait for this one
  }
  MPI_Finalize();
  return code;
}
