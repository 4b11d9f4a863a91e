#include "sgd/cli/settings.hpp"

#include "sgd/model/space.hpp"

#include <algorithm>

namespace selvage::sgd {
namespace {

void read_model(app::Input& input, Settings& settings) {
  settings.data_path = input.require<std::string>("data.path");
  if (settings.is_synthetic() && settings.data_path != "synthetic:resnet50")
    input.reject("data.path", "there is no such synthetic model: only synthetic:resnet50");
  settings.resident_bytes =
      input.get<std::int64_t>("data.resident_bytes", std::int64_t{1} << 30, {.least = 0});
  const auto image = input.list<std::int64_t>("model.image", {0, 0},
                                              {.each = {.least = 0, .most = 10000}, .most_length = 2});
  if (image.size() != 2) input.reject("model.image", "must be height and width");
  settings.image = {static_cast<int>(image[0]), static_cast<int>(image[1])};
  const auto channels = input.list<std::int64_t>("model.channels", {},
                                                 {.each = {.least = 1, .most = 10000}, .most_length = 10});
  settings.channels.assign(channels.begin(), channels.end());
  const auto hidden = input.list<std::int64_t>("model.hidden", {128},
                                               {.each = {.least = 1, .most = 100000}, .most_length = 100});
  settings.hidden.assign(hidden.begin(), hidden.end());
  if (const std::string weights = input.get_text("model.weights", ""); !weights.empty())
    settings.weights_path = weights;
  if (settings.is_synthetic() && settings.weights_path)
    input.reject("model.weights", "needs a model that is trained");
  settings.seed = input.get<std::int64_t>("train.seed", 1, {.least = 0});
}

void read_training(app::Input& input, Settings& settings) {
  settings.epochs = input.get<std::int64_t>("train.epochs", 60, {.least = 1, .most = 1000000});
  settings.batch = input.get<std::int64_t>("train.batch", 64, {.least = 1, .most = 1 << 20});
  settings.grain = input.get<std::int64_t>("train.grain", 8, {.least = 1, .most = 1 << 20});
  settings.rate = input.get<double>("train.rate", 0.1, {.least = 0, .most = 1e30});
  settings.warmup_steps = input.get<std::int64_t>("train.warmup_steps", 0, {.least = 0});
  settings.momentum = input.get<double>("train.momentum", 0.9, {.least = 0, .most = 1});
  settings.weight_decay = input.get<double>("train.weight_decay", 0, {.least = 0, .most = 1});
}

void read_communication(app::Input& input, Settings& settings) {
  settings.ordered = input.choice("comm.reduce", "ordered", {"ordered", "fast"}) == "ordered";
  settings.overlap = input.get_bool("comm.overlap", true);
  settings.bf16_on_the_wire = input.get_bool("comm.bf16", false);
  settings.tiles = input.get_bool("comm.tiles", false);
  settings.sharded = input.get_bool("comm.sharded", false);
  settings.bucket_bytes = input.get<std::int64_t>("comm.bucket_bytes", std::int64_t{25} << 20, {.least = 1});
  if (input.has("comm.multiprocessors"))
    settings.multiprocessors =
        static_cast<int>(input.get<std::int64_t>("comm.multiprocessors", 0, {.least = 0, .most = 10000}));
  if (settings.ordered && settings.bf16_on_the_wire)
    input.reject("comm.bf16", "needs comm.reduce = \"fast\": the ordered reduction adds whole numbers");
  if (settings.tiles && settings.sharded)
    input.reject("comm.tiles", "doesn't go with comm.sharded: tiles give all sums to every rank");
  if (settings.tiles && !settings.overlap)
    input.reject("comm.tiles", "needs comm.overlap: tiles travel while others are computed");
  if (settings.tiles && settings.bf16_on_the_wire)
    input.reject("comm.tiles", "doesn't go with comm.bf16: tiles travel as they are");
  if (settings.is_synthetic() && (settings.tiles || settings.sharded))
    input.reject(settings.tiles ? "comm.tiles" : "comm.sharded", "needs a model that is trained");
  if (settings.is_synthetic() && settings.bf16_on_the_wire)
    input.reject("comm.bf16", "rounds sums, and those of a synthetic model are verified to the bit");
  if (settings.ordered && (settings.batch + settings.grain - 1) / settings.grain > 1 << 15)
    input.reject("train.grain", "gives more than 32768 grains, whose sum might not fit");
}

}  // namespace

Settings read_settings(app::Input& input) {
  Settings settings{};
  read_model(input, settings);
  read_training(input, settings);
  read_communication(input, settings);
  // On GPUs a phase that is timed, and a loss that is looked at, makes the host wait.
  settings.breakdown = input.get_bool("run.breakdown", on_host);
  settings.report_every =
      input.get<std::int64_t>("run.report_every", on_host ? 1 : 100, {.least = 1, .most = 1 << 20});
  settings.timed_products = input.get_bool("run.timed_products", !on_host && !settings.ordered);
  if (settings.ordered && settings.timed_products)
    input.reject("run.timed_products", "needs comm.reduce = \"fast\": ordered sums promise the same bits");
  settings.timed_steps =
      static_cast<int>(input.get<std::int64_t>("run.timed_steps", 10, {.least = 0, .most = 10000}));
  settings.graph = input.get_bool("run.graph", !on_host) && !settings.breakdown;
  settings.checkpoint_every = input.get<std::int64_t>("restart.every", 0, {.least = 0});
  settings.wanted_accuracy = input.get<double>("verify.accuracy", 0, {.least = 0, .most = 1});
  const bool stops = input.has("run.steps");
  settings.standard =
      app::read_standard_options(input, {.steps = 0, .out_dir = "out/sgd", .initiations = {"auto"}});
  if (settings.standard.ranks_grid)
    input.reject("comm.ranks_grid", "must be \"auto\": ranks that train form no grid");
  if (settings.weights_path && settings.standard.restart_path)
    input.reject("model.weights", "doesn't go with run.restart: a checkpoint has its own weights");
  if (stops) settings.stop_step = settings.standard.steps;
  input.reject_unknown();
  return settings;
}

}  // namespace selvage::sgd
