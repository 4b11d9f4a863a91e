#pragma once

#include <cstddef>
#include <string_view>

namespace selvage::detail {

/// How large copies are shared out between the direct way and the one through host memory.
struct CopySplit {
  enum class Mode {
    direct,     ///< not at all
    fixed,      ///< a share of the bytes is staged (Temucin et al., algorithm 1; Faraji, 5.3.1)
    dynamic,    ///< pieces go where the last ones were done fastest (Faraji, 5.3.2)
    automatic,  ///< dynamic, where that was measured to be faster than direct
  };
  Mode mode = Mode::direct;
  double staged_share = 0;
  std::size_t least_bytes = std::size_t{4} << 20;  ///< shorter ones are never split

  /// \param text  direct, static:SHARE (0 to 1), dynamic, auto \throws Error{input}
  [[nodiscard]] static CopySplit parse(std::string_view text);
  /// What SELVAGE_COPY_PATHS and SELVAGE_COPY_SPLIT_BYTES say. \throws Error{input}
  [[nodiscard]] static CopySplit from_environment();
};

}  // namespace selvage::detail
