#include "part_file.hpp"
#include "writer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace selvage::profile {
namespace {

using Parts = std::vector<std::optional<Part>>;

int ranks_of(const std::string& output) {
  // Any part knows how many there are; rank 0's may be the one that is missing.
  constexpr int last_tried = 64;
  for (int rank = 0; rank < last_tried; ++rank) {
    const auto part = open_part(part_path(output, rank));
    if (part) return part->header().ranks;
  }
  return 0;
}

Parts open_parts(const std::string& output) {
  Parts parts(ranks_of(output));
  const int ranks = static_cast<int>(parts.size());
  for (int rank = 0; rank < ranks; ++rank) {
    auto part = open_part(part_path(output, rank));
    if (part && part->header().ranks == ranks && part->header().rank == rank) parts[rank] = part;
  }
  return parts;
}

Totals totals_of(const Parts& parts) {
  Totals totals;
  totals.ranks = static_cast<int>(parts.size());
  totals.complete = false;
  int found = 0;
  for (const auto& part : parts) {
    if (!part) continue;
    ++found;
    totals.mpi_library = part->header().mpi_library.data();
    totals.seconds = std::max(totals.seconds, part->seconds());
    totals.communication_seconds += part->communication_seconds();
    for (int memory = 0; memory < memories; ++memory) {
      for (int bin = 0; bin < histogram_bins; ++bin) {
        totals.histograms[memory][bin] +=
            part->header().histograms[memory][bin].load(std::memory_order_relaxed);
      }
    }
  }
  if (found > 0) totals.communication_seconds /= found;
  return totals;
}

/// What the rank sent, and what the others fetched from it.
void fetch_rows(void* context, int sender, std::uint64_t* values) {
  const Parts& parts = *static_cast<const Parts*>(context);
  const std::size_t ranks = parts.size();
  std::fill_n(values, memories * quantities * ranks, 0);
  if (parts[sender]) {
    const Counter* const sent = parts[sender]->rows(Direction::sent);
    for (std::size_t i = 0; i < parts[sender]->rows_length(); ++i) {
      values[i] = sent[i].load(std::memory_order_relaxed);
    }
  }
  for (std::size_t receiver = 0; receiver < ranks; ++receiver) {
    if (!parts[receiver]) continue;
    const Counter* const fetched = parts[receiver]->rows(Direction::fetched);
    for (std::size_t row = 0; row < memories * quantities; ++row) {
      values[row * ranks + receiver] += fetched[row * ranks + sender].load(std::memory_order_relaxed);
    }
  }
}

bool fail(Failure& failure, const std::string& output, const char* why) {
  std::snprintf(failure.text, sizeof failure.text, "%s: %s", output.c_str(), why);
  return false;
}

void name_missing(const Parts& parts, Failure& remark) {
  constexpr int most_named = 8;
  int missing = 0;
  std::string ranks;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    if (parts[rank]) continue;
    if (++missing <= most_named) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (!ranks.empty())
    std::snprintf(remark.text, sizeof remark.text,
                  "there is no part that can be read of %d of %zu ranks, of %s%s: what they sent is missing",
                  missing, parts.size(), ranks.c_str(), missing > most_named ? ", ..." : "");
}

bool merge(const std::string& parts_of, const std::string& output, Failure& failure) {
  Parts parts = open_parts(parts_of);
  if (parts.empty()) return fail(failure, parts_of, "there is no part of a run (<file>.rank<n>)");
  if (!selvage_profile_write(output.c_str(), totals_of(parts), fetch_rows, &parts, failure)) return false;
  name_missing(parts, failure);
  // Processes that still run keep counting into the files that are gone now.
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    if (parts[rank]) unlink(part_path(parts_of, static_cast<int>(rank)).c_str());
  }
  return true;
}

/// Held by one process of the host at a time, and let go by its death too.
class MergeLock {
 public:
  /// Of the output's folder: a lock file would stay behind where its rank is killed.
  explicit MergeLock(const std::string& output)
      : folder_(open(folder_of(output).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // Where a file system knows no locks, merging goes on without.
    if (folder_ >= 0) (void)flock(folder_, LOCK_EX);
  }
  ~MergeLock() {
    if (folder_ >= 0) close(folder_);
  }
  MergeLock(const MergeLock&) = delete;
  MergeLock& operator=(const MergeLock&) = delete;

 private:
  static std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
  }
  int folder_;
};

}  // namespace

bool selvage_profile_merge(const char* parts_of, const char* output, Failure& failure) {
  // Several ranks may call MPI_Abort at a time. The first one merges, and the others mustn't end the job before that;
  // they find no parts then.
  const MergeLock lock(output);
  return merge(parts_of, output, failure);
}

}  // namespace selvage::profile
