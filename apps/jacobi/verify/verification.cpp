#include "jacobi/verify/verification.hpp"

#include "jacobi/physics/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace selvage::jacobi {
namespace {

/// How well the mode's error ratio must agree with lambda^k, where rounding allows it.
constexpr double ratio_tolerance = 1e-12;

double allowance(const Settings& settings, const Theory& theory, std::int64_t step) {
  return settings.precision == Precision::fp64 ? rounding_allowance<double>(theory, step)
                                               : rounding_allowance<float>(theory, step);
}

}  // namespace

Verification::Verification(const Settings& settings, const Theory& theory)
    : settings_(settings), theory_(theory) {}

void Verification::Worst::take(double new_difference, double new_allowed, std::int64_t new_step) {
  const double new_share = new_difference / new_allowed;
  if (new_share <= share) return;
  *this = {new_share, new_difference, new_allowed, new_step};
}

void Verification::check(const NormRow& row, double iterate_error) {
  if (settings_.name == Case::dirichlet) {
    check_dirichlet(row, iterate_error);
  } else {
    check_public_sample(row);
  }
}

void Verification::check_dirichlet(const NormRow& row, double iterate_error) {
  const double rounding = allowance(settings_, theory_, row.step);
  error_ratio_.take(std::abs(row.error - row.theory),
                    std::max(ratio_tolerance * std::abs(row.theory), rounding), row.step);
  iterate_.take(iterate_error / std::abs(theory_.discrete_amplitude), std::max(ratio_tolerance, 2 * rounding),
                row.step);
}

void Verification::check_public_sample(const NormRow& row) {
  const bool is_fp64 = settings_.precision == Precision::fp64;
  const bool is_the_sample = settings_.stencil_points == 5 && settings_.cells[0] == settings_.cells[1];
  if (!is_the_sample) return;
  const double known = public_sample_norm(settings_.cells[0] + 2, is_fp64, row.step);
  if (std::isnan(known)) return;
  // The figures are known to 12 (fp64) and 6 (fp32) digits.
  norm_.take(std::abs(row.residual / known - 1), is_fp64 ? 1e-11 : 5e-6, row.step);
}

void Verification::add(app::Report& report, const char* name, const char* quantity, const Worst& worst) {
  const bool ok = worst.share >= 0 && worst.share <= 1;
  const std::string detail =
      worst.share < 0 ? fmt::format("no row of norms.csv gives {}", quantity)
                      : fmt::format("{} differs by at most {:.2e} (allowed {:.2e}, worst at step {})",
                                    quantity, worst.difference, worst.allowed, worst.step);
  report.verify(name, ok, detail);
}

void Verification::conclude(app::Report& report) const {
  if (settings_.name == Case::dirichlet) {
    add(report, "error ratio", "error / initial error - lambda^k", error_ratio_);
    add(report, "field", "the field / discrete solution", iterate_);
  } else {
    add(report, "public-sample norms", "the norm / the known norm", norm_);
  }
}

}  // namespace selvage::jacobi
