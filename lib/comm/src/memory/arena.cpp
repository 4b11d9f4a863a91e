#include "arena.hpp"

#include "gpu/device.hpp"

#include <selvage/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

namespace selvage::detail {
namespace {

[[noreturn]] void throw_errno(const std::string& what) {
  const int code = errno;
  throw Error(ErrorKind::io, fmt::format("{}: {}", what, std::strerror(code)), code);
}

/// The system grants a file of any size (overcommit). The first touch of a page that the host doesn't have then raises SIGBUS,
/// so sizes beyond the host's memory are refused here.
void require_memory(std::size_t bytes) {
  struct sysinfo host {};
  if (sysinfo(&host) != 0) throw_errno("cannot learn how much memory this host has");
  const std::size_t all = (host.totalram + host.totalswap) * host.mem_unit;
  if (bytes <= all) return;
  throw Error(ErrorKind::io,
              fmt::format("cannot get {} bytes of shared memory: this host has {} in all", bytes, all),
              ENOMEM);
}

/// Closes a descriptor at the end of a scope.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

std::uint64_t inode_of(const File& file) {
  struct stat about {};
  if (fstat(file.get(), &about) != 0) throw_errno("cannot look at shared memory");
  return about.st_ino;
}

}  // namespace

Mapping::Mapping(int file, std::size_t bytes) : bytes_(bytes) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (address == MAP_FAILED) throw_errno(fmt::format("cannot map {} bytes of shared memory", bytes));
  data_ = static_cast<std::byte*>(address);
  // Only a hint: without huge pages a stencil is slower, because it misses the TLB more often.
  madvise(address, bytes, MADV_HUGEPAGE);
}

Mapping::~Mapping() {
  munmap(data_, bytes_);
}

Arena::~Arena() {
  for (const auto& [address, segment] : segments_) close(segment.file);
}

std::byte* Arena::allocate(std::size_t bytes) {
  require_memory(bytes);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
  File file(memfd_create("selvage", MFD_CLOEXEC));
  if (file.get() < 0) throw_errno("cannot create shared memory");
  if (ftruncate(file.get(), static_cast<off_t>(rounded)) != 0) {
    throw_errno(fmt::format("cannot size shared memory to {} bytes", rounded));
  }
  const std::uint64_t inode = inode_of(file);
  auto mapping = std::make_unique<Mapping>(file.get(), rounded);
  std::byte* data = mapping->data();
  const std::lock_guard lock(mutex_);
  segments_.emplace(reinterpret_cast<std::uintptr_t>(data),
                    Segment{file.release(), inode, next_id_++, std::move(mapping)});
  return data;
}

std::shared_ptr<void> Arena::allocate_owned(const std::shared_ptr<Arena>& arena, std::size_t bytes) {
  std::byte* const data = arena->allocate(bytes);
  const auto give_back = [arena](const void* block) {
    const std::lock_guard lock(arena->mutex_);
    arena->erase(arena->segments_.find(reinterpret_cast<std::uintptr_t>(block)));
  };
  std::shared_ptr<void> block(data, give_back);
  const std::lock_guard lock(arena->mutex_);
  arena->segments_.at(reinterpret_cast<std::uintptr_t>(data)).is_owned = true;
  return block;
}

void Arena::deallocate(const void* block) {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const std::lock_guard lock(mutex_);
  const auto holding = segment_of(address);
  if (holding != segments_.end() && holding->second.is_owned) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{} is the memory of a View, or of an object of the library: the last copy of a View of "
                    "Grid::allocate gives it back by itself",
                    block));
  }
  if (holding == segments_.end() || holding->first != address)
    throw Error(ErrorKind::usage, fmt::format("{} is not the start of a shared block", block));
  erase(holding);
}

std::map<std::uintptr_t, Arena::Segment>::const_iterator Arena::segment_of(std::uintptr_t address) const {
  const auto after = segments_.upper_bound(address);
  if (after == segments_.begin()) return segments_.end();
  const auto before = std::prev(after);
  return address < before->first + before->second.mapping->bytes() ? before : segments_.end();
}

void Arena::erase(std::map<std::uintptr_t, Segment>::const_iterator segment) {
  close(segment->second.file);
  segments_.erase(segment);
}

std::optional<SharedRange> Arena::find(const void* data, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::lock_guard lock(mutex_);
  const auto holding = segment_of(address);
  if (holding == segments_.end()) return std::nullopt;
  const auto& [begin, segment] = *holding;
  if (address + bytes > begin + segment.mapping->bytes()) return std::nullopt;
  return SharedRange{.memory = MemoryKind::host,
                     .process = static_cast<std::int32_t>(getpid()),
                     .file = segment.file,
                     .inode = segment.inode,
                     .ipc_handle = {},
                     .segment = segment.id,
                     .segment_bytes = segment.mapping->bytes(),
                     .offset = address - begin};
}

namespace {

std::pair<std::byte*, std::shared_ptr<void>> map_file(const SharedRange& range) {
  const std::string path = fmt::format("/proc/{}/fd/{}", range.process, range.file);
  const File file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.get() < 0) throw_errno(fmt::format("cannot open another rank's shared memory {}", path));
  if (inode_of(file) != range.inode) {
    throw Error(ErrorKind::io,
                fmt::format("cannot open another rank's shared memory: here {} is another file "
                            "(are ranks in containers of their own?)",
                            path));
  }
  auto mapping = std::make_shared<Mapping>(file.get(), range.segment_bytes);
  return {mapping->data(), mapping};
}

}  // namespace

PeerMappings::Mapped PeerMappings::map(const SharedRange& range) {
  const std::lock_guard lock(mutex_);
  Segment& segment = segments_[{range.memory, range.process, range.segment, range.inode, range.ipc_handle}];
  std::shared_ptr<void> owner = segment.owner.lock();
  if (!owner) {
    std::tie(segment.begin, owner) =
        range.memory == MemoryKind::host ? map_file(range) : open_device_memory(range.ipc_handle);
    segment.owner = owner;
  }
  return {segment.begin + range.offset, owner};
}

}  // namespace selvage::detail
