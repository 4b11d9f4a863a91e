#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace selvage::md {

/// The largest load over the mean: 1 where all are equal, and where there is none.
[[nodiscard]] double imbalance(std::span<const double> load_by_rank);

/// "402 to 455 atoms per rank, imbalance 1.04"
[[nodiscard]] std::string describe_load(std::span<const double> atoms_by_rank);

/// \throws Error{numeric} that names the step and how many atoms are missing or too many
void check_none_lost(std::int64_t step, std::int64_t expected, std::span<const double> atoms_by_rank);

}  // namespace selvage::md
