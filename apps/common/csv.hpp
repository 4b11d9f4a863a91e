#pragma once

#include <selvage/file_descriptor.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace selvage::app {

/// A table that grows by one row per step, e.g. norms.csv. Lives on one rank.
///
/// Rows go to the file at once, each in one write, so a crash loses none. Numbers are written with as many
/// digits as give the same bits back; NaN leaves the cell empty.
class CsvHistory {
 public:
  /// \param columns  their names, the first of which is the step's, e.g. {"step", "residual"}
  /// \param first_new_step  after a restart, the first step that this run will append: earlier rows are kept,
  /// later
  ///                        ones and a torn last line dropped. Without it an earlier file is replaced.
  /// \throws Error{io}; Error{input} when the kept file has other columns
  CsvHistory(std::string path, std::vector<std::string> columns,
             std::optional<std::int64_t> first_new_step = std::nullopt);

  /// \param values  one per column after the first
  /// \throws Error{io}, e.g. for a full disk; the file then ends with the last complete row
  void append(std::int64_t step, std::span<const double> values);

 private:
  std::string path_;
  std::size_t columns_;
  FileDescriptor file_;
};

}  // namespace selvage::app
