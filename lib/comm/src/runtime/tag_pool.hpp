#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace selvage::detail {

/// Message tags from 0 up to a limit. All ranks take the same in the same order, so what they take is the same; what they
/// give back, and when, may differ until they agree on it.
class TagPool {
 public:
  explicit TagPool(int limit) : end_(limit) {}

  /// The first of `count` tags; nothing when so many aren't left in a row.
  [[nodiscard]] std::optional<int> take(int count);
  /// Says that this rank is through with tags that were taken together. Called from any thread.
  void give_back(int first);
  /// Those that are taken, first tag and number: the same on all ranks.
  [[nodiscard]] std::vector<std::pair<int, int>> taken() const;
  /// Whether this rank has given them back, in the order of taken().
  [[nodiscard]] std::vector<int> given_back() const;
  /// Makes those free that all ranks have given back. \param by_all  in the order of taken()
  void free(const std::vector<bool>& by_all);

 private:
  struct Taken {
    int count;
    bool is_given_back;
  };
  void add_free(int first, int count);

  mutable std::mutex mutex_;
  int next_ = 0;  ///< from here on none has ever been taken
  int end_;
  std::map<int, Taken> taken_;  ///< by their first
  std::map<int, int> free_;     ///< numbers by their first; no two touch
};

}  // namespace selvage::detail
