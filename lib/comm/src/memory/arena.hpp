#pragma once

#include "gpu/shared_range.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

namespace selvage::detail {

/// A mapping of shared memory, unmapped when the last owner goes.
class Mapping {
 public:
  Mapping(int file, std::size_t bytes);
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

/// This rank's memory that peers of the host can map: one anonymous memory file per block, no name to clean
/// up.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Zeroed and page-aligned. \throws Error{io}
  [[nodiscard]] std::byte* allocate(std::size_t bytes);
  /// \throws Error{usage} for what allocate() did not give
  void deallocate(const void* block);
  /// The name of [data, data + bytes) if one block holds all of it.
  [[nodiscard]] std::optional<SharedRange> find(const void* data, std::size_t bytes) const;

 private:
  struct Segment {
    int file;
    std::uint64_t inode;
    std::uint64_t id;
    std::unique_ptr<Mapping> mapping;
  };

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Segment> segments_;  // by first address
  std::uint64_t next_id_ = 1;
};

/// Maps other ranks' ranges, each segment once as long as anyone uses it. GPU memory is mapped for one GPU, that
/// of the Context that these mappings belong to.
class PeerMappings {
 public:
  struct Mapped {
    std::byte* data = nullptr;
    std::shared_ptr<void> owner;
  };
  /// \throws Error{io} that says why the segment can't be opened
  [[nodiscard]] Mapped map(const SharedRange& range);

 private:
  struct Segment {
    std::byte* begin = nullptr;
    std::weak_ptr<void> owner;
  };

  std::mutex mutex_;
  /// Neither processes nor segments have numbers of their own where ranks are in containers.
  using Name = std::tuple<MemoryKind, std::int32_t, std::uint64_t, std::uint64_t, std::array<char, 64>>;
  std::map<Name, Segment> segments_;
};

}  // namespace selvage::detail
