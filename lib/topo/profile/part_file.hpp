#pragma once

#include "part.hpp"

#include <optional>
#include <string>

namespace selvage::profile {

/// Maps a new file of zeros with room for `ranks`. Never unmapped, since other threads may still count.
/// \return nothing if the file can't be made; errno says why
[[nodiscard]] std::optional<Part> create_part_file(const std::string& path, int ranks);

/// The same in memory of this process alone: the counters die with it.
[[nodiscard]] Part create_part(int ranks);

/// Maps a part that a rank left behind.
/// \return nothing if there is no such file, or it isn't a whole part
[[nodiscard]] std::optional<Part> open_part(const std::string& path);

}  // namespace selvage::profile
