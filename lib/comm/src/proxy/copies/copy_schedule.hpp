#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace selvage::detail {

enum class CopyMechanism {
  direct,  ///< straight into the other memory (the thesis's IPC)
  staged,  ///< through page-locked host memory (its HS)
};
[[nodiscard]] constexpr CopyMechanism other(CopyMechanism mechanism) {
  return mechanism == CopyMechanism::direct ? CopyMechanism::staged : CopyMechanism::direct;
}

/// Decides which of several copies goes by which mechanism (Faraji, 5.3): by a number fixed beforehand, or by how the
/// mechanisms answer. Knows no memory and starts nothing: the caller asks, copies, and says what is complete.
///
/// Dynamic: the first two copies get one of each. A copy that completes by a mechanism gives it more: one where it has
/// completed no more than the other, else two to the power of the difference. The last one, if its mechanism has
/// never completed any, goes by the other one too.
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
  /// \param staged  so many of those that are ready first
  [[nodiscard]] static CopySchedule make_static(int copies, int staged);

  /// A copy may be started from now on; each once.
  void set_ready(int copy);
  /// What to start now, if anything. \return each copy once, or, if it is sent again, twice
  [[nodiscard]] std::optional<Assignment> next();
  void complete(const Assignment& done);

  [[nodiscard]] State state(int copy) const { return copies_[copy].state; }
  /// Every copy has completed by one mechanism at least.
  [[nodiscard]] bool is_complete() const { return pending_ == 0; }
  /// And none is underway that was sent again.
  [[nodiscard]] bool is_drained() const { return pending_ == 0 && underway_ == 0; }
  /// Another mechanism has taken it over: what hasn't begun of it may be left out, and it be called complete.
  [[nodiscard]] bool is_obsolete(const Assignment& started) const;
  /// The mechanism has completed nothing while the other has.
  [[nodiscard]] bool is_slow(CopyMechanism mechanism) const;
  /// The next step of a collective (the thesis's broadcast after its gather): other copies, the same knowledge. A slow
  /// mechanism gets none. Only of a dynamic schedule, and when it is drained.
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
  int ungranted_ = 0;  ///< copies that no grant is for yet
  int pending_ = 0;    ///< not complete
  int underway_ = 0;
  std::array<int, 2> completed_{};
};

}  // namespace selvage::detail
