#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace selvage {

/// Where a file is written before it is complete: PATH.partial.
[[nodiscard]] std::string partial_path(const std::string& path);

/// Creates PATH (or empties it) and makes sure that `bytes` fit on its disk, under its quota and under the
/// process's file size limit.
/// \throws Error{io} with path and the system's reason; the file is then gone
void reserve_file(const std::string& path, std::uint64_t bytes);

/// Like reserve_file() for a file that exists: keeps its content and length. \throws Error{io}
void hold_room(const std::string& path, std::uint64_t bytes);

/// Flushes PATH.partial to the disk and renames it to PATH. \throws Error{io}; PATH.partial is then removed
void publish_file(const std::string& path);

/// Replaces a small file: written as PATH.partial, flushed to the disk, renamed. A device or a pipe is written into. One
/// rank.
/// \throws Error{io} with path and reason; the earlier file is then still there
void replace_file(const std::string& path, std::string_view text);

}  // namespace selvage
