// A step of data-parallel training, with as many samples for each rank whatever their number: sgd/<model>/<g>gpu, in
// microseconds, of fp32 products without TF32, with ordered sums, which are the program's default, and with fast ones. mlp-64-128-10: 64 samples. mlp-4096x8: eight layers of 4096
// outputs, 1024 samples. cnn-28x28: convolutions to 32 and 64 channels, dense layers of 128 and 10 outputs, 256 samples.
// synthetic-resnet50: gradients of its 161 tensors, added up without any arithmetic beside it; from 2 ranks on.
#include "../support/figure.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "sgd/model/space.hpp"
#include "step_trial.hpp"
#include "synthetic_trial.hpp"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

namespace selvage::bench {
namespace {

sgd::Settings fast_training(double rate) {
  sgd::Settings settings{};
  settings.seed = 1;
  settings.epochs = 1000;
  settings.grain = 64;
  settings.rate = rate;
  settings.momentum = 0.9;
  settings.overlap = true;
  settings.bucket_bytes = std::int64_t{25} << 20;
  settings.graph = !sgd::on_host;
  settings.timed_products = !sgd::on_host;
  return settings;
}

std::vector<StepCase> cases() {
  StepCase small{.model = "mlp-64-128-10",
                 .settings = fast_training(0.1),
                 .features = 64,
                 .classes = 10,
                 .batch_of_rank = 64,
                 .steps_per_epoch = 256};
  small.settings.hidden = {128};
  if (sgd::on_host) return {small};
  StepCase large{.model = "mlp-4096x8",
                 .settings = fast_training(0.01),
                 .features = 4096,
                 .classes = 4096,
                 .batch_of_rank = 1024,
                 .steps_per_epoch = 4};
  large.other_multiprocessors = {2, 3, 8};
  large.settings.hidden = std::vector<int>(7, 4096);
  StepCase images{.model = "cnn-28x28",
                  .settings = fast_training(0.01),
                  .features = 28 * 28,
                  .classes = 10,
                  .batch_of_rank = 256,
                  .steps_per_epoch = 16};
  images.settings.image = {28, 28};
  images.settings.channels = {32, 64};
  images.settings.hidden = {128};
  return {small, large, images};
}

void add(const std::string& model, const Context& context, int rounds, const std::function<Figure()>& make) {
  register_figure(fmt::format("sgd/{}/{}", model, ranks_text(context.machine())), context.comm(), rounds,
                  make);
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage;
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const Context context(sgd::Space(), comm);
    for (const StepCase& each : cases())
      add(each.model, context, 11, [context, each] { return step_figure(context, each); });
    if (context.size() == 1) return;
    // Nothing else runs, so it may have the whole GPU.
    sgd::Settings settings = fast_training(0);
    settings.multiprocessors = 0;
    add("synthetic-resnet50", context, 11,
        [context, settings] { return synthetic_figure(context, settings); });
  });
}
