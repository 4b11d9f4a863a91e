#pragma once

#include "common/report.hpp"
#include "jacobi/cli/settings.hpp"
#include "jacobi/io/run_files.hpp"
#include "jacobi/physics/theory.hpp"

#include <cstdint>

namespace selvage::jacobi {

/// Compares each row of norms with what is known about the case, and keeps the worst.
class Verification {
 public:
  /// \param theory  of the case `dirichlet`; not used for the others
  Verification(const Settings& settings, const Theory& theory);

  /// \param iterate_error  largest difference of the field from the known iterate; NaN where none is known
  void check(const NormRow& row, double iterate_error);

  /// Adds the outcome to the report: a failure where any row was off, and where nothing could be compared.
  void conclude(app::Report& report) const;

 private:
  /// The largest difference in units of what is allowed, and where.
  struct Worst {
    double share = -1;
    double difference = 0;
    double allowed = 0;
    std::int64_t step = 0;
    void take(double new_difference, double new_allowed, std::int64_t new_step);
  };

  void check_dirichlet(const NormRow& row, double iterate_error);
  void check_public_sample(const NormRow& row);
  static void add(app::Report& report, const char* name, const char* quantity, const Worst& worst);

  Settings settings_;
  Theory theory_;
  Worst error_ratio_;
  Worst iterate_;
  Worst norm_;
};

}  // namespace selvage::jacobi
