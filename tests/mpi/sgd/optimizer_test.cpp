#include "serial_training.hpp"
#include "sgd/model/random.hpp"
#include "sgd/model/update.hpp"
#include "sgd/trainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::sgd {
namespace {

using testing_support::SerialTraining;

constexpr int inputs = 5;
constexpr int hidden = 24;
constexpr int classes = 3;
/// Four epochs and a part of the fifth.
constexpr int steps = 22;

Samples random_samples(int count) {
  Random random(3, 0);
  Samples samples;
  for (int i = 0; i < count; ++i) {
    const auto label = static_cast<int>(random.below(classes));
    for (int j = 0; j < inputs; ++j)
      samples.features.push_back(random.uniform() + (j == label ? 0.5F : -0.5F));
    samples.labels.push_back(label);
  }
  return samples;
}

/// Two layers, batches of four grains. Far from its minimum, so that the decay of a weight is no more than its gradient.
Settings plain_settings() {
  Settings settings{};
  settings.data_path = "memory";
  settings.resident_bytes = 1 << 20;
  settings.hidden = {hidden};
  settings.seed = 1;
  settings.epochs = 6;
  settings.batch = 8;
  settings.grain = 2;
  settings.rate = 0.2;
  settings.ordered = true;
  settings.overlap = true;
  settings.bucket_bytes = 1 << 20;
  settings.report_every = 100;
  return settings;
}

struct Case {
  std::string name;
  double momentum = 0;
  double decay = 0;
  std::int64_t warmup_steps = 0;
  bool ordered = true;
  bool sharded = false;
  bool tiles = false;
  std::int64_t bucket_bytes = 1 << 20;
};

Settings settings_of(const Case& wanted) {
  Settings settings = plain_settings();
  settings.momentum = wanted.momentum;
  settings.weight_decay = wanted.decay;
  settings.warmup_steps = wanted.warmup_steps;
  settings.ordered = wanted.ordered;
  settings.sharded = wanted.sharded;
  settings.tiles = wanted.tiles;
  settings.bucket_bytes = wanted.bucket_bytes;
  return settings;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = {{.name = "plain"},
                             {.name = "momentum", .momentum = 0.9},
                             {.name = "decay", .decay = 0.05},
                             {.name = "warm-up", .warmup_steps = 7}};
  const Case everything{.name = "everything", .momentum = 0.8, .decay = 0.03, .warmup_steps = 3};
  for (const bool ordered : {true, false}) {
    for (const bool sharded : {false, true}) {
      for (const std::int64_t bucket_bytes : {std::int64_t{1} << 20, std::int64_t{256}}) {
        Case one = everything;
        one.name += (ordered ? ", ordered" : ", fast") + std::string(sharded ? ", sharded" : "") +
                    ", buckets of " + std::to_string(bucket_bytes);
        one.ordered = ordered;
        one.sharded = sharded;
        one.bucket_bytes = bucket_bytes;
        cases.push_back(one);
      }
    }
  }
  cases.push_back(everything);
  cases.back().name += ", tiles";
  cases.back().tiles = true;
  return cases;
}

/// What a training leaves: weights and momentum in host memory, by parameter.
struct Trained {
  std::vector<Tensor> tensors;
  std::vector<float> first;
  std::vector<float> weights = {};
  std::vector<float> velocities = {};
};

std::vector<float> on_the_host(const Vector<float>& values) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  return {host.data(), host.data() + host.extent(0)};
}

/// Collective over the communicator.
Trained train(MPI_Comm comm, const Settings& settings, const Samples& samples) {
  const Space space = make_instance();
  const Context context(space, comm);
  app::Breakdown breakdown("test", false);
  const auto source = std::make_shared<const SamplesInMemory>(inputs, classes, samples, samples);
  Trainer trainer(space, settings, context, source, breakdown);
  Trained trained{.tensors = trainer.model().tensors(), .first = on_the_host(trainer.model().parameters())};
  for (int step = 0; step < steps; ++step) trainer.step();
  static_cast<void>(trainer.report());
  trained.weights = on_the_host(trainer.model().parameters());
  trained.velocities = trainer.momentum();
  return trained;
}

double largest_difference(const std::vector<float>& found, const std::vector<double>& wanted) {
  double most = found.size() == wanted.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(found.size(), wanted.size()); ++i) {
    // Not max, which would lose a NaN.
    const double difference = std::abs(found[i] - wanted[i]);
    if (!(difference <= most)) most = difference;
  }
  return most;
}

/// Weights are about 1, velocities up to 1: some hundreds of roundings to fp32 in each of the steps.
constexpr double rounding = 2e-6;

TEST(Optimizer, TrainsAsSerialMomentumSgdInFp64) {
  const Samples samples = random_samples(43);
  for (const Case& each : all_cases()) {
    SCOPED_TRACE(each.name);
    const Settings settings = settings_of(each);
    const Trained found = train(MPI_COMM_WORLD, settings, samples);
    SerialTraining wanted(settings, samples, {inputs, hidden, classes}, found.tensors, found.first);
    for (int step = 0; step < steps; ++step) wanted.step();
    EXPECT_LE(largest_difference(found.weights, wanted.weights()), rounding);
    EXPECT_LE(largest_difference(found.velocities, wanted.velocities()), rounding);
    EXPECT_GE(largest_difference(found.first, wanted.weights()), 0.05) << "weights have hardly moved";
  }
}

/// The bound above tells apart what the settings change, each by a tenth of itself.
TEST(Optimizer, SerialTrainingDiffersWhereASettingDoes) {
  const Samples samples = random_samples(43);
  const Settings settings = settings_of({.name = "", .momentum = 0.8, .decay = 0.03, .warmup_steps = 3});
  const Trained found = train(MPI_COMM_SELF, settings, samples);
  const auto trained_by = [&](const Settings& changed) {
    SerialTraining training(changed, samples, {inputs, hidden, classes}, found.tensors, found.first);
    for (int step = 0; step < steps; ++step) training.step();
    return training.weights();
  };
  for (double Settings::*setting : {&Settings::momentum, &Settings::weight_decay, &Settings::rate}) {
    Settings changed = settings;
    changed.*setting *= 1.1;
    EXPECT_GE(largest_difference(found.weights, trained_by(changed)), 100 * rounding);
  }
  Settings changed = settings;
  changed.warmup_steps = 4;
  EXPECT_GE(largest_difference(found.weights, trained_by(changed)), 100 * rounding);
}

/// As the README promises of ordered sums: on any number of ranks, in any buckets, and sharded.
TEST(Optimizer, OrderedSumsGiveTheBitsOfOneRank) {
  const Samples samples = random_samples(43);
  for (const Case& each : all_cases()) {
    if (!each.ordered) continue;
    SCOPED_TRACE(each.name);
    Case plain = each;
    plain.sharded = plain.tiles = false;
    plain.bucket_bytes = 1 << 20;
    const Trained alone = train(MPI_COMM_SELF, settings_of(plain), samples);
    const Trained together = train(MPI_COMM_WORLD, settings_of(each), samples);
    const auto bits = [](const std::vector<float>& values) {
      std::vector<std::uint32_t> found;
      for (const float value : values) found.push_back(std::bit_cast<std::uint32_t>(value));
      return found;
    };
    EXPECT_EQ(bits(together.weights), bits(alone.weights));
    EXPECT_EQ(bits(together.velocities), bits(alone.velocities));
  }
}

/// Numbers that fp32 holds exactly, and so do all results: fused or not, there is nothing to round.
template <class Sum>
void expect_exact_steps(const Sum one) {
  const Space space = make_instance();
  constexpr int count = 70;
  const Optimizer optimizer{.parameters = Vector<float>("parameters", count),
                            .velocities = Vector<float>("velocities", count),
                            .rate = Vector<float>("rate", 1),
                            .batch = 4,
                            .momentum = 0.5F,
                            .decay = 0.25F};
  const Vector<Sum> sums("sums", count);
  const auto given = Kokkos::create_mirror_view(Kokkos::HostSpace(), sums);
  const auto start = Kokkos::create_mirror_view(Kokkos::HostSpace(), optimizer.parameters);
  std::vector<double> weights;
  std::vector<double> velocities(count);
  for (int i = 0; i < count; ++i) weights.push_back(start(i) = static_cast<float>(i - 35) / 16);
  Kokkos::deep_copy(optimizer.parameters, start);
  for (const double rate : {0.5, 0.25, 0.125}) {
    Kokkos::deep_copy(optimizer.rate, static_cast<float>(rate));
    for (int i = 0; i < count; ++i) {
      const int sum = (7 * i) % 23 - 11;
      given(i) = static_cast<Sum>(sum) * one;
      velocities[i] = 0.5 * velocities[i] + sum / 4.0 + 0.25 * weights[i];
      weights[i] -= rate * velocities[i];
    }
    Kokkos::deep_copy(sums, given);
    update(space, optimizer, sums);
    space.fence();
    EXPECT_EQ(largest_difference(on_the_host(optimizer.parameters), weights), 0) << "rate " << rate;
    EXPECT_EQ(largest_difference(on_the_host(optimizer.velocities), velocities), 0) << "rate " << rate;
  }
}

TEST(Optimizer, MovesByMomentumGradientAndDecayToTheBit) {
  expect_exact_steps(1.0F);
  expect_exact_steps(fixed_point::from_real(1));
}

}  // namespace
}  // namespace selvage::sgd
