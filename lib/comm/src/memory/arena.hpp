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

/// The memory of this rank that other ranks of the host can map. Each block is an anonymous memory file, so no name remains in the file
/// system.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Zeroed and page-aligned. \throws Error{io}
  [[nodiscard]] std::byte* allocate(std::size_t bytes);
  /// The same, with owners: the last of them gives it back. They keep the arena. \throws Error{io}
  [[nodiscard]] static std::shared_ptr<void> allocate_owned(const std::shared_ptr<Arena>& arena,
                                                            std::size_t bytes);
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
    bool is_owned = false;
  };

  // The caller of these holds the mutex.
  [[nodiscard]] std::map<std::uintptr_t, Segment>::const_iterator segment_of(std::uintptr_t address) const;
  void erase(std::map<std::uintptr_t, Segment>::const_iterator segment);

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Segment> segments_;  // by first address
  std::uint64_t next_id_ = 1;
};

/// Maps memory of other ranks. Each segment is mapped once, as long as it is used. GPU memory is mapped for the GPU of the Context that
/// owns these mappings.
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
  /// Process and segment numbers alone are not unique where ranks run in containers.
  using Name = std::tuple<MemoryKind, std::int32_t, std::uint64_t, std::uint64_t, std::array<char, 64>>;
  std::map<Name, Segment> segments_;
};

}  // namespace selvage::detail
