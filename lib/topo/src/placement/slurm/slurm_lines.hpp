#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::topo {

struct SlurmValue {
  std::string key;  ///< in small letters
  std::string value;
};

/// A line of one of Slurm's files, together with those that it goes on in.
struct SlurmLine {
  std::string file;
  std::size_t number = 0;  ///< of its first line
  std::vector<SlurmValue> values;
};

/// Reads what Slurm reads: keys in any case, blanks around the sign, values in quotes, comments, a backslash where a line goes
/// on and before what is meant literally, and `Include FILE`, relative to the folder of the file that says so.
/// \param file  where the text is from
/// \throws Error{input}
[[nodiscard]] std::vector<SlurmLine> slurm_lines(std::string_view text, const std::string& file);

/// \throws Error{input} that names the line
[[noreturn]] void fail_at(const std::string& file, std::size_t line, const std::string& what);

}  // namespace selvage::topo
