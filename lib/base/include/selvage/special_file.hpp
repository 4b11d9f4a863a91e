#pragma once

#include <string>

namespace selvage {

/// Whether there is something at `path`, behind links, that is no regular file: a device, a pipe or a directory. Such are
/// written into, since a rename would put a file in their place.
[[nodiscard]] bool is_special_file(const std::string& path);

}  // namespace selvage
