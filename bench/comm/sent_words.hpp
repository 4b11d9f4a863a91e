#pragma once

// What kernels of bench_triggers and bench_queues send, so that each step's words differ from all others.
#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace selvage::bench {

/// Word `i` of what `rank` sends in a step.
KOKKOS_INLINE_FUNCTION std::uint64_t word_of(int rank, std::uint64_t step, std::uint64_t i) {
  return (i + 1) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(rank) * 1000003 + step;
}

/// \param received  `count` words, where kernels store
/// \throws Error{verification} that names the first word that isn't what `rank` sent
inline void require_words(const std::string& sender, const std::uint64_t* received, std::uint64_t count,
                          int rank, std::uint64_t step) {
  using Unmanaged = Kokkos::View<const std::uint64_t*, Kokkos::DefaultExecutionSpace::memory_space,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto words = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Unmanaged(received, count));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (words(i) != word_of(rank, step, i))
      throw Error(ErrorKind::verification, fmt::format("{}: word {} of step {} is wrong", sender, i, step));
  }
}

}  // namespace selvage::bench
