#pragma once

#include <cstdint>
#include <vector>

namespace selvage::detail {

struct ProcessGridRequest {
  std::vector<std::int64_t> cells;
  std::vector<bool> periodic;
  std::vector<int> ranks;  ///< per axis, 0 where free
  int rank_count = 1;
};

/// The numbers of ranks per axis that fulfil the request and with which ranks send the fewest cells.
/// \throws Error{input} that says what doesn't fit
[[nodiscard]] std::vector<int> choose_process_grid(const ProcessGridRequest& request);

}  // namespace selvage::detail
