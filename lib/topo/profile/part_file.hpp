#pragma once

#include "part.hpp"

#include <optional>
#include <string>

namespace selvage::profile {

/// Maps a new file of zeros with room for `ranks`, or memory of this process alone where the file can't be made:
/// then the counters die with the process. Never unmapped, since other threads may still count.
/// \param path empty: no file is wanted
[[nodiscard]] Part create_part(const std::string& path, int ranks);

/// Maps a part that a rank left behind.
/// \return nothing if there is no such file, or it isn't a whole part
[[nodiscard]] std::optional<Part> open_part(const std::string& path);

}  // namespace selvage::profile
