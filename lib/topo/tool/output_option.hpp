#pragma once

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <system_error>

namespace selvage::topo::tool {

/// \throws Error{usage} where `output` is one of the files that are read, or written before it
inline void require_another_file(const std::string& output, std::initializer_list<std::string> others) {
  std::error_code ignored;
  for (const std::string& other : others) {
    if (output.empty() || other.empty()) continue;
    if (output == other || std::filesystem::equivalent(output, other, ignored)) {
      throw Error(ErrorKind::usage,
                  fmt::format("'{}' would take the place of '{}', which is the same file", output, other));
    }
  }
}

}  // namespace selvage::topo::tool
