#pragma once

#include <string>

namespace selvage {

/// Whether there is something at `path`, behind links, that is no regular file: a device, a pipe or a directory. Such are
/// written into, since a rename would put a file in their place.
[[nodiscard]] bool is_special_file(const std::string& path);

/// \throws Error{input} with the path and the reason unless a regular file is there: opening a pipe may wait for ever, and a
/// device may have no end
void require_regular_file(const std::string& path);

}  // namespace selvage
