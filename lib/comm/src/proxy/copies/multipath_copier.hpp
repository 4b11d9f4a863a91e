#pragma once

#include "copier.hpp"
#include "copy_schedule.hpp"
#include "runtime/copy_split.hpp"

#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/memory_kind.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace selvage::detail {

/// Finds out for each size class whether splitting copies is faster. It repeats its measurements, since other traffic on the paths
/// changes.
class SplitTrials {
 public:
  static constexpr int period = 64;  ///< of this many copies of a size class, two each way are trials

  /// What the next copy is to do.
  [[nodiscard]] bool choose_split(std::size_t bytes);
  void record(std::size_t bytes, bool is_split, double seconds);

 private:
  struct SizeClass {
    int copies = 0;
    std::array<double, 2> seconds_per_byte{};  ///< direct, split: the best of the last trials
    std::array<int, 2> records{};
  };
  [[nodiscard]] SizeClass& class_of(std::size_t bytes);
  std::array<SizeClass, 64> classes_;  ///< by the number of bits
};

/// A stream and a block of host memory, through which it copies piece by piece.
struct StagedLane {
  Buffer staging;
  std::size_t bytes = 0;           ///< of `staging`
  std::unique_ptr<Copier> copier;  ///< ends before its staging
};

/// One copy over several paths at once. Polled. No other copy may use its memory meanwhile.
class SplitCopy {
 public:
  struct Span {
    std::byte* target;
    const std::byte* source;
    std::size_t bytes;
  };
  SplitCopy(Copier& direct, std::vector<StagedLane>& lanes, const Span& span, const CopySplit& split);

  /// \return whether all bytes have arrived and no copy is underway
  bool progress();
  /// Bytes that went through host memory.
  [[nodiscard]] std::size_t staged_bytes() const { return staged_bytes_; }

 private:
  using Assignment = CopySchedule::Assignment;
  struct Way {
    std::optional<Assignment> assignment;
    std::uint64_t ticket = 0;
    bool is_leaving = false;  ///< its piece is being copied from the host memory, not to it
  };
  struct Direct {
    Assignment assignment;
    std::uint64_t ticket;
  };
  [[nodiscard]] static CopySchedule make_schedule(std::vector<Span>& pieces, const Span& span,
                                                  const CopySplit& split, std::size_t lane_bytes);
  void start(const Assignment& assignment);
  void poll_direct();
  void poll_lane(std::size_t lane);
  void enter(std::size_t lane);

  Copier& direct_;
  std::vector<StagedLane>& lanes_;
  std::vector<Span> pieces_;
  CopySchedule schedule_;
  std::deque<Direct> underway_;
  std::deque<Assignment> waiting_;  ///< for a lane
  std::vector<Way> ways_;           ///< by lane
  std::size_t staged_bytes_ = 0;
};

/// A Copier that splits large copies over several paths. A copy enqueued behind a split one starts when that one is complete.
class MultipathCopier final : public Copier {
 public:
  MultipathCopier(std::unique_ptr<Copier> direct, std::vector<StagedLane> lanes, const CopySplit& split);
  ~MultipathCopier() override;

  void copy(std::byte* target, const std::byte* source, std::size_t bytes) override;
  void copy(const CopyBox& box) override;
  void release(std::uint64_t& word, std::uint64_t value) override;
  [[nodiscard]] std::uint64_t mark() override;
  [[nodiscard]] bool has_done(std::uint64_t ticket) override;
  /// Bytes that went through host memory so far.
  [[nodiscard]] std::size_t staged_bytes() const { return staged_bytes_; }

 private:
  struct Step {
    enum class Kind { split, copy, box, release, mark };
    Kind kind = Kind::mark;
    SplitCopy::Span span{};
    CopyBox box{};
    std::uint64_t* word = nullptr;
    std::uint64_t value = 0;  ///< or the ticket
  };
  struct Mark {
    std::uint64_t ticket;
    std::uint64_t direct_ticket;
  };
  /// Carries out a step at once if no other is queued.
  void issue(const Step& step);
  void carry_out(const Step& step);
  void progress();
  void begin_split(const Step& step);
  [[nodiscard]] bool is_split_over(const Step& step);

  std::vector<StagedLane> lanes_;
  std::unique_ptr<Copier> direct_;  ///< ends before the lanes' staging
  CopySplit split_;
  SplitTrials trials_;
  std::deque<Step> steps_;  ///< behind a split copy, which is the first
  std::optional<std::uint64_t> before_split_;
  std::unique_ptr<SplitCopy> running_;
  bool is_running_split_ = false;
  std::uint64_t began_ns_ = 0;
  std::deque<Mark> marks_;
  std::uint64_t last_ticket_ = 0;
  std::uint64_t done_ticket_ = 0;
  std::size_t staged_bytes_ = 0;
};

/// Makes a copier for memory of that kind, over the paths that the environment variables name.
/// \throws Error{input}, Error{cuda}
[[nodiscard]] std::unique_ptr<Copier> make_copier(MemoryKind memory);

}  // namespace selvage::detail
