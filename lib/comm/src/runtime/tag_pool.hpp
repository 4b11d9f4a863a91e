#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace selvage::detail {

/// Message tags from 0 up to a limit. All ranks take tags in the same order and therefore get the same ones. When they give them back may
/// differ between ranks, so tags are used again only after the ranks have agreed on them.
class TagPool {
 public:
  explicit TagPool(int limit) : end_(limit) {}

  /// Takes `count` consecutive tags. \return the first; nothing if so many are not left
  [[nodiscard]] std::optional<int> take(int count);
  /// Gives back tags that were taken together. May be called from any thread.
  void give_back(int first);
  /// The tags that are taken, as first tag and number. The same on all ranks.
  [[nodiscard]] std::vector<std::pair<int, int>> taken() const;
  /// Whether this rank has given each back, in the order of taken().
  [[nodiscard]] std::vector<int> given_back() const;
  /// Frees the tags that all ranks have given back. \param by_all  in the order of taken()
  void free(const std::vector<bool>& by_all);

 private:
  struct Taken {
    int count;
    bool is_given_back;
  };
  void add_free(int first, int count);

  mutable std::mutex mutex_;
  int next_ = 0;  ///< no tag from this one on has ever been taken
  int end_;
  std::map<int, Taken> taken_;  ///< by first tag
  std::map<int, int> free_;     ///< number by first tag; adjacent ranges are merged
};

}  // namespace selvage::detail
