#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace selvage::detail {

enum class CopyMechanism {
  direct,  ///< directly to the other memory (IPC in the thesis)
  staged,  ///< through page-locked host memory (HS in the thesis)
};
[[nodiscard]] constexpr CopyMechanism other(CopyMechanism mechanism) {
  return mechanism == CopyMechanism::direct ? CopyMechanism::staged : CopyMechanism::direct;
}

/// Decides which copies use which of two mechanisms (Faraji, 5.3): a fixed number of them each, or as many as their speeds allow. It
/// starts no copies itself: the caller asks what to start, copies, and reports what is complete.
///
/// Dynamic: of the first two copies each mechanism gets one. When a copy completes, its mechanism is granted more copies: one if it has
/// not completed more than the other mechanism, and otherwise two to the power of the difference. If the last copy uses a mechanism that
/// has never completed one, the other mechanism copies it too.
class CopySchedule {
 public:
  struct Assignment {
    int copy = 0;
    CopyMechanism mechanism = CopyMechanism::direct;
    friend bool operator==(const Assignment&, const Assignment&) = default;
  };
  /// INIT, RTS, *_ASGN (granted, taken by next()), *_INIT, *_CMP of the thesis, the mechanism apart.
  enum class State { init, ready, started, complete };

  [[nodiscard]] static CopySchedule make_dynamic(int copies);
  /// \param staged  how many of the copies that are ready first are staged
  [[nodiscard]] static CopySchedule make_static(int copies, int staged);

  /// Reports that a copy may be started. Once for each copy.
  void set_ready(int copy);
  /// The copy to start now, if any. Returns each copy once, or twice if both mechanisms copy it.
  [[nodiscard]] std::optional<Assignment> next();
  void complete(const Assignment& done);

  [[nodiscard]] State state(int copy) const { return copies_[copy].state; }
  /// Whether each copy has been completed by at least one mechanism.
  [[nodiscard]] bool is_complete() const { return pending_ == 0; }
  /// Whether, in addition, no second copy is underway.
  [[nodiscard]] bool is_drained() const { return pending_ == 0 && underway_ == 0; }
  /// Whether the other mechanism has completed this copy: parts that have not begun may be skipped, and the copy reported as complete.
  [[nodiscard]] bool is_obsolete(const Assignment& started) const;
  /// Whether the mechanism has completed nothing while the other has.
  [[nodiscard]] bool is_slow(CopyMechanism mechanism) const;
  /// Begins the next step of a collective (in the thesis, the broadcast after the gather) with new copies, and keeps what is known
  /// of the mechanisms. A slow mechanism gets no copies. Only for a dynamic schedule that is drained.
  void begin_stage(int copies);

 private:
  struct Copy {
    State state = State::init;
    CopyMechanism mechanism = CopyMechanism::direct;
    bool is_sent_again = false;
  };
  CopySchedule() = default;
  void reset(int copies);
  void grant(CopyMechanism mechanism, int count);
  [[nodiscard]] std::optional<Assignment> last_again();
  [[nodiscard]] int& completed(CopyMechanism mechanism) {
    return completed_[static_cast<std::size_t>(mechanism)];
  }
  [[nodiscard]] int completed(CopyMechanism mechanism) const {
    return completed_[static_cast<std::size_t>(mechanism)];
  }

  bool is_dynamic_ = true;
  std::vector<Copy> copies_;
  std::deque<int> ready_;
  std::deque<CopyMechanism> grants_;
  int ungranted_ = 0;  ///< copies that no mechanism has been granted yet
  int pending_ = 0;    ///< not complete
  int underway_ = 0;
  std::array<int, 2> completed_{};
};

}  // namespace selvage::detail
