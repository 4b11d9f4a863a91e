#include "runtime/context_state.hpp"

#include <selvage/comm/custom_allreduce.hpp>

#include <fmt/format.h>

#include <array>
#include <vector>

namespace selvage::detail {

void require_same_values(const Context& context, std::string_view label, std::int64_t count,
                         std::int64_t bytes_per_value) {
  constexpr std::string_view purpose = "the construction of a CustomAllreduce";
  const auto call = context.state()->public_call();
  context.state()->all_or_none(purpose, [&] {
    if (count < 0)
      throw Error(
          ErrorKind::usage,
          fmt::format(
              "the View \"{}\" has gaps between its values: a CustomAllreduce needs one that is contiguous",
              label));
  });
  struct Fact {
    std::string_view name;
    std::int64_t value;
  };
  const std::array facts{Fact{"the number of values", count}, Fact{"the bytes of a value", bytes_per_value}};
  for (const Fact& fact : facts) {
    const std::vector<std::int64_t> all = context.state()->gather(fact.value, purpose);
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
      if (all[rank] == all[0]) continue;
      throw Error(ErrorKind::usage, fmt::format("ranks make a CustomAllreduce of the View \"{}\" that "
                                                "differs in {}: {} on rank 0, {} on rank {}",
                                                label, fact.name, all[0], all[rank], rank));
    }
  }
}

}  // namespace selvage::detail
