#include "synthetic_trial.hpp"

#include "common/rank_sums.hpp"
#include "sgd/model/resnet50.hpp"
#include "sgd/step_graph.hpp"
#include "sgd/synthetic.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace selvage::bench {
namespace {

class SyntheticTrial {
 public:
  SyntheticTrial(const Context& context, const sgd::Settings& settings)
      : context_(context), model_(space_, context, settings, sgd::resnet50_tensors()) {
    const auto enqueue = [this] { model_.exchange(); };
    verify(enqueue);
    const std::string name = settings.ordered ? "ordered sums" : "fast sums";
    if (settings.graph && model_.gradients().can_be_captured()) {
      add(name, sgd::capture_step(space_, enqueue));
      add(name + ", enqueued step by step", enqueue);
    } else {
      add(name, enqueue);
    }
  }
  SyntheticTrial(const SyntheticTrial&) = delete;
  SyntheticTrial& operator=(const SyntheticTrial&) = delete;

  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }
  [[nodiscard]] std::string describe() const {
    const auto buckets = model_.gradients().report();
    return fmt::format("{} buckets, the first by {}", buckets.size(), to_string(buckets.front().algorithm));
  }

 private:
  void add(const std::string& name, const std::function<void()>& run) {
    contenders_.push_back({name, run, [this, run] { verify(run); }});
  }

  void verify(const std::function<void()>& run) {
    for (const std::int64_t step : {0, 1}) {
      model_.write(step);
      run();
      const std::array own{model_.count_wrong(step)};
      const std::int64_t wrong = app::sum_counts(context_.comm(), "the count of wrong sums", own).front();
      if (wrong > 0)
        throw Error(ErrorKind::verification, fmt::format("step {} leaves {} wrong sums", step, wrong));
    }
    model_.clear();
  }

  sgd::Space space_ = sgd::make_instance();
  Context context_;
  sgd::Synthetic model_;
  std::vector<Contender> contenders_;
};

}  // namespace

Figure synthetic_figure(const Context& context, const sgd::Settings& settings) {
  sgd::Settings ordered = settings;
  ordered.ordered = true;
  // The program's default first.
  const auto trials = std::make_shared<std::array<std::unique_ptr<SyntheticTrial>, 2>>(
      std::array{std::make_unique<SyntheticTrial>(context, ordered),
                 std::make_unique<SyntheticTrial>(context, settings)});
  Figure figure{.contenders = {}, .label = trials->front()->describe(), .keeps = trials};
  for (const auto& trial : *trials)
    figure.contenders.insert(figure.contenders.end(), trial->contenders().begin(), trial->contenders().end());
  return figure;
}

}  // namespace selvage::bench
