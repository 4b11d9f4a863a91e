#pragma once

#include "allreduce_algorithm.hpp"
#include "lockstep.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::detail {

/// A reduction on hosts in steps that all ranks take in the same order: `stages` steps for each segment of the elements. A step of a later
/// stage begins when all ranks have finished the stage before; steps of the first stage may be ahead of other ranks.
class Stepwise : public AllreduceRunner {
 public:
  void start(Executor& executor) final;
  bool progress(Executor& executor) final;
  [[nodiscard]] std::string describe_late() const final;

 protected:
  struct Shape {
    std::size_t memory_bytes;       ///< of each rank, that all can read and write
    std::int64_t elements;          ///< that segments are cut from
    std::int64_t segment_elements;  ///< at a time; at least 1
    std::uint64_t stages;
    /// How many steps the first stage of a segment may be ahead of the slowest rank's.
    std::uint64_t lead;
    bool waits_at_end;  ///< whether the result is only there when all ranks have made their last step
  };
  /// \param group  the ranks that make the steps
  Stepwise(const AllreduceParts& parts, std::vector<int> group, const Shape& shape);

  struct Segment {
    std::int64_t begin = 0;
    std::int64_t count = 0;
    std::uint64_t number = 0;  ///< over the life of the object
  };
  /// This rank's share of a stage. \return false where it waits for something else than steps: it is called again
  [[nodiscard]] virtual bool make(std::uint64_t stage, const Segment& segment) = 0;
  /// What make() waits for then.
  [[nodiscard]] virtual std::string describe_awaited() const { return {}; }

  [[nodiscard]] const AllreduceParts& parts() const { return parts_; }
  /// This rank's place in its group, and how many there are.
  [[nodiscard]] int place() const { return lockstep_.place(); }
  [[nodiscard]] int size() const { return lockstep_.size(); }
  [[nodiscard]] std::size_t width() const { return element_bytes(parts_.elements.type); }
  [[nodiscard]] std::byte* element(std::int64_t index) const {
    return parts_.elements.data + index * static_cast<std::int64_t>(width());
  }
  [[nodiscard]] std::byte* memory(int place) const { return lockstep_.memory(place); }

 private:
  /// What all ranks must have done before this one makes its next step.
  [[nodiscard]] std::uint64_t required() const;

  AllreduceParts parts_;
  Shape shape_;
  Lockstep lockstep_;
  std::uint64_t steps_ = 0;  ///< that this rank has made
  std::uint64_t begin_ = 0;  ///< of the reduction in flight
  std::uint64_t end_ = 0;
};

}  // namespace selvage::detail
