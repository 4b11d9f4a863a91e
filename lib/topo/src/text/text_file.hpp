#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace selvage::topo {

/// Replaces a file; what was there stays until the new one is complete. A device or a pipe is written into.
/// \throws Error{io} with the path and the system's reason
void write_text_file(const std::string& path, std::string_view text);

/// Tries whether the file could be written, and leaves nothing behind: for what is found out after a long time only.
/// \throws Error{io} as write_text_file() would
void check_writable(const std::string& path);

/// The pieces between separators, at least one.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// Without blanks, tabs and carriage returns at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// What a message repeats of a file: bytes that can be printed, and not too many.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace selvage::topo
