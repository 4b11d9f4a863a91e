#pragma once

#include "common/report.hpp"
#include "common/session.hpp"
#include "sgd/cli/settings.hpp"
#include "sgd/io/run_files.hpp"
#include "sgd/trainer.hpp"

#include <selvage/comm/context.hpp>

#include <optional>
#include <vector>

namespace selvage::sgd {

/// One run of the program: reads data and checkpoint, trains, writes files and reports. Collective, all of it.
class Training {
 public:
  /// Notes the plan in the report. \param space  an instance of make_instance() \throws Error{input}, not yet agreed
  Training(const Space& space, app::Session& session, app::Report& report, const Settings& settings,
           const Context& context);

  /// \throws AgreedError{numeric} that names step and layer where the loss is NaN; checkpoints stay
  void run();

 private:
  void describe_plan();
  void describe_sums();
  void train_until_done();
  /// \param steps  the last ones
  void write_steps(RunFiles& files, const std::vector<Trainer::Step>& steps);
  void verify_replicas();
  void report_results();
  void report_communication();
  void report_timed_steps();

  app::Session& session_;
  app::Report& report_;
  Settings settings_;
  app::Breakdown breakdown_;
  app::Breakdown::Phase output_phase_;
  Space space_;
  Context context_;
  Trainer trainer_;
  std::optional<std::int64_t> resumed_at_;
  std::int64_t last_step_;
  Trainer::Step train_{};
  Trainer::Step test_{};
  double training_s_ = 0;  ///< steps alone, without tests and files
};

}  // namespace selvage::sgd
