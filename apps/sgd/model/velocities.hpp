#pragma once

#include "sgd/model/space.hpp"

#include <mpi.h>

#include <cstdint>
#include <map>
#include <vector>

namespace selvage::sgd {

/// The momentum of all parameters, or, sharded, of those that this rank updates: which these are shows in the first step.
class Velocities {
 public:
  Velocities(std::size_t count, bool is_sharded);

  /// Of parameters [begin, begin + count): zeros, or what set() gave; always the same memory. Enqueued on the instance
  /// the first time that a shard is asked for.
  [[nodiscard]] Vector<float> of(const Space& instance, std::int64_t begin, std::int64_t count);

  /// Of all parameters, on every rank. Collective where sharded; what was enqueued before must be done.
  [[nodiscard]] std::vector<float> gather(MPI_Comm comm) const;
  /// \param values  of all parameters; comes before the first step
  void set(const std::vector<float>& values);
  /// The first step is done: this rank's shards are known, and what set() gave for others isn't needed any more.
  void settle();
  /// In the space's memory.
  [[nodiscard]] std::int64_t bytes() const;

 private:
  std::size_t count_;
  bool is_sharded_;
  Vector<float> whole_;                             ///< empty where sharded
  std::map<std::int64_t, Vector<float>> by_begin_;  ///< this rank's shards
  std::vector<float> given_;                        ///< by set(), for shards
};

}  // namespace selvage::sgd
