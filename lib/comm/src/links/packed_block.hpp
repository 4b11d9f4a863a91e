#pragma once

#include "layouts/packing.hpp"
#include "layouts/prepared_copy.hpp"

#include <selvage/comm/options.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace selvage::detail {

class ContextState;

/// The memory in which MPI or the proxy finds a packed block.
enum class Wire {
  packed,  ///< where the execution space works
  staged,  ///< in host memory, which kernels of a GPU write and read as well
  mapped,  ///< where the execution space works, in memory that peers map
};

/// Arguments for links that send packed blocks as messages. All references outlive the link.
struct MessageParts {
  ContextState& context;
  const Executor& executor;
  Wire carrier;
  Initiation initiation;
  std::size_t fields;
  bool reverses;  ///< whether there are exchanges in reverse as well
  int first_tag;  ///< of one per field
};

/// The bytes that go to one neighbour, or come from it, packed: in the memory that MPI or the proxy reads and writes.
struct PackedBlock {
  std::vector<std::int64_t> begins{0};  ///< of each field, and the end of the last: bytes
  Buffer packed;
  std::vector<std::unique_ptr<PreparedCopy>> pack;    ///< by field, of blocks that are sent
  std::vector<std::unique_ptr<PreparedCopy>> unpack;  ///< by field, of blocks that are received

  [[nodiscard]] std::int64_t bytes() const { return begins.back(); }
  [[nodiscard]] std::int64_t field_begin(std::size_t field) const { return begins[field]; }
  [[nodiscard]] std::int64_t field_bytes(std::size_t field) const {
    return begins[field + 1] - begins[field];
  }
  /// Bytes to allocate for `packed`: at least 1, so that other ranks can name the memory.
  [[nodiscard]] std::size_t capacity_bytes() const;

  /// Allocates its memory. Call it when `begins` is complete.
  void allocate(const MessageParts& parts);
};

/// What goes to one neighbour and comes from it.
struct PackedPeer {
  int rank;
  PackedBlock owned;                                     ///< sent, in reverse received
  PackedBlock ghost;                                     ///< received, in reverse sent
  std::vector<std::vector<Contribution>> contributions;  ///< by field, of links that reduce

  [[nodiscard]] const PackedBlock& outgoing(bool reverse) const { return reverse ? ghost : owned; }
  [[nodiscard]] const PackedBlock& incoming(bool reverse) const { return reverse ? owned : ghost; }
};

}  // namespace selvage::detail
