#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace selvage::detail {

/// What the fastest algorithm depends on besides the size.
struct AllreduceJob {
  std::string machine;  ///< topo::hardware_signature()
  int ranks = 1;
  std::string ranks_per_host;  ///< "4", or "3 to 4"; of pretended hosts "2 pretended"
  bool ranks_share_cores = false;
  std::string memory;  ///< where the elements lie: "host" or "gpu"
  std::string type;    ///< of the elements, as to_string() writes it

  friend bool operator==(const AllreduceJob&, const AllreduceJob&) = default;
};

/// "fp32 in host memory of 4 ranks, 4 per host, on 1 x Some CPU (8 cores)"
[[nodiscard]] std::string describe(const AllreduceJob& job);

/// What was measured for one size.
struct AllreduceRow {
  std::int64_t bytes = 0;
  std::string best;
  std::map<std::string, double> median_us = {};         ///< by algorithm, the best one's too
  std::map<std::string, std::string> skipped = {};      ///< by algorithm: why it was not measured
  std::string operation = {}, version = {}, date = {};  ///< of the measurement

  friend bool operator==(const AllreduceRow&, const AllreduceRow&) = default;
};

/// What a table says about one allreduce, or why it says nothing.
struct AllreduceAdvice {
  std::vector<std::string> algorithms = {};  ///< fastest first; empty: the built-in rule decides
  std::string why = {};                      ///< which row of which file, or why none; empty without a table
};

/// Measured times of allreduce algorithms, as selvage-tune writes them: a JSON file of series, one per AllreduceJob,
/// with a row per size.
class AllreduceTable {
 public:
  /// \param path  for messages
  /// \throws Error{input} with the path, the place in the file and what was expected there
  [[nodiscard]] static AllreduceTable parse(const std::string& text, const std::string& path);
  /// \throws Error{input} with the system's reason
  [[nodiscard]] static AllreduceTable read(const std::string& path);
  /// What parse() reads.
  [[nodiscard]] std::string to_text() const;

  /// Adds rows to the series of a job. A row replaces an older one of its size; all else stays.
  void merge(const AllreduceJob& job, const std::vector<AllreduceRow>& rows);

  /// The row of the nearest size at or below `bytes`. Below the smallest and above the largest there is none: the
  /// measurement says nothing about those.
  [[nodiscard]] AllreduceAdvice advise(const AllreduceJob& job, std::int64_t bytes) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Series {
    AllreduceJob job;
    std::map<std::int64_t, AllreduceRow> rows;  ///< by size
  };
  [[nodiscard]] const Series* find(const AllreduceJob& job) const;

  std::string path_;
  std::vector<Series> series_;
};

}  // namespace selvage::detail
