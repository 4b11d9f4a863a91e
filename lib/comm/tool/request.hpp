#pragma once

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/elements.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::tune {

/// What the command line asks for.
struct Request {
  std::string text;  ///< what to print instead of working, where not empty
  std::string out;   ///< the table; empty: where a Context looks for it
  std::vector<detail::ElementType> types = {detail::ElementType::fp32, detail::ElementType::fp64};
  std::int64_t min_bytes = 64;
  std::int64_t max_bytes = 0;  ///< 0: 16 MiB on hosts, 256 MiB on GPUs
  ReduceOperation operation = ReduceOperation::sum;
};

/// \throws Error{usage} on a command line that can't be followed
[[nodiscard]] Request parse_request(int argc, const char* const* argv);

/// The powers of two from `least` to `most`. \throws Error{usage} where there are none
[[nodiscard]] std::vector<std::int64_t> powers_of_two(std::int64_t least, std::int64_t most);

}  // namespace selvage::tune
