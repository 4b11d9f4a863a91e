#pragma once

#include "common/input.hpp"
#include "common/standard_options.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace selvage::sgd {

/// Every input value, checked as far as it can be without the data.
struct Settings {
  app::StandardOptions standard;
  std::string data_path;  ///< a file, or synthetic:resnet50
  std::int64_t
      resident_bytes;  ///< of features to train with, that every rank may keep; more are read by batches
  std::array<int, 2> image;                 ///< height and width of a sample in pixels; 0 x 0: no images
  std::vector<int> channels;                ///< of convolutions, which come first
  std::vector<int> hidden;                  ///< widths of the dense layers before the last one
  std::optional<std::string> weights_path;  ///< of the weights to begin with
  std::int64_t seed;                        ///< of the first weights and of the data's order
  std::int64_t epochs;                      ///< that the schedule is made for
  std::optional<std::int64_t> stop_step;    ///< run.steps, where it is given: ends earlier
  std::int64_t batch;                       ///< samples of a step, of all ranks together
  std::int64_t grain;  ///< samples whose gradients are computed as one, with the ordered reduction
  double rate;
  std::int64_t warmup_steps;
  double momentum;
  double weight_decay;
  bool ordered;  ///< sums don't depend on the number of ranks
  bool overlap;  ///< gradients travel while others are computed
  bool bf16_on_the_wire;
  bool tiles;    ///< the last layer's gradients are added up over ranks tile by tile
  bool sharded;  ///< a rank updates a part of the parameters, and has the momentum of that part only
  std::int64_t bucket_bytes;
  std::optional<int> multiprocessors;  ///< of a GPU, that sums over ranks may take; 0: as many as help
  bool breakdown;
  std::int64_t report_every;      ///< steps between looks at the losses, which the host waits for
  bool timed_products;            ///< by the fastest algorithms, so that bits depend on what was timed
  int timed_steps;                ///< to tell what of a step is due to other ranks; 0: none
  bool graph;                     ///< a step is one graph, where that is possible
  std::int64_t checkpoint_every;  ///< steps; 0: never
  double wanted_accuracy;         ///< what --verify asks for, of the test samples, from 0 to 1

  [[nodiscard]] bool is_synthetic() const { return data_path.starts_with("synthetic:"); }
};

/// Reads all keys and refuses unknown ones; the keys are listed in apps/sgd/README.md. Not collective.
/// \throws Error{input} with file, line, key and value
[[nodiscard]] Settings read_settings(app::Input& input);

}  // namespace selvage::sgd
