#include "synthetic_trial.hpp"

#include "../support/trial.hpp"
#include "common/rank_sums.hpp"
#include "sgd/resnet50.hpp"
#include "sgd/step_graph.hpp"
#include "sgd/synthetic.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <array>
#include <vector>

namespace selvage::bench {
namespace {

constexpr int rounds = 11;

void verify(const Context& context, sgd::Synthetic& model, std::int64_t step) {
  model.step(step);
  const std::array own{model.count_wrong(step)};
  const std::int64_t wrong = app::sum_counts(context.comm(), "the count of wrong sums", own).front();
  if (wrong > 0)
    throw Error(ErrorKind::verification, fmt::format("step {} leaves {} wrong sums", step, wrong));
}

}  // namespace

Record time_synthetic(const Context& context, const sgd::Settings& settings) {
  const sgd::Space space = sgd::make_instance();
  sgd::Synthetic model(space, context, settings, sgd::resnet50_tensors());
  for (const std::int64_t step : {0, 1, 2}) verify(context, model, step);
  model.clear();
  std::vector<Contender> contenders{{"enqueued", [&] { model.exchange(); }}};
  const bool has_graph = settings.graph && model.gradients().can_be_captured();
  if (has_graph) contenders.push_back({"in a graph", sgd::capture_step(space, [&] { model.exchange(); })});
  const Trial trial(context.comm(), contenders, rounds);
  const std::string chosen = has_graph ? "in a graph" : "enqueued";
  Record record;
  record.name = fmt::format("sgd/synthetic-resnet50/{}{}", context.size(), sgd::on_host ? "rank" : "gpu");
  record.value = trial.median(chosen) * 1e6;
  record.unit = "us/step";
  for (const Contender& contender : contenders)
    record.peers[contender.name + ", us"] = trial.median(contender.name) * 1e6;
  const auto buckets = model.gradients().report();
  record.choice = fmt::format("{}, {} buckets, the first by {}", chosen, buckets.size(),
                              to_string(buckets.front().algorithm));
  record.verified = true;
  record.repetitions = rounds;
  record.spread = trial.spread(chosen);
  return record;
}

}  // namespace selvage::bench
