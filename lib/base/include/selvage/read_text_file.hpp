#pragma once

#include <cstddef>
#include <string>

namespace selvage {

/// All of a regular file. What is no file is refused before it is read: a pipe may wait for ever, a device may have no end.
/// \throws Error{input} with the path and the system's reason, for what is no regular file, or for more than `most_bytes`;
///         Error{io} where this process has too many files open
[[nodiscard]] std::string read_text_file(const std::string& path,
                                         std::size_t most_bytes = std::size_t{2} << 30);

}  // namespace selvage
