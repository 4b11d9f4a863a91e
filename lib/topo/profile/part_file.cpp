#include "part_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>

namespace selvage::profile {
namespace {

void* map_shared(int file, std::size_t size) {
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void* map_new_file(const std::string& path, std::size_t size) {
  // A file of an earlier run may still be mapped by somebody: never cut it, which would kill that process.
  unlink(path.c_str());
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return nullptr;
  void* memory = nullptr;
  // The blocks are taken now: a disk that fills up later would otherwise kill the program at some store.
  int error = posix_fallocate(file, 0, static_cast<off_t>(size));
  if (error == 0) {
    memory = map_shared(file, size);
    error = errno;
  }
  if (memory == nullptr) unlink(path.c_str());
  close(file);
  errno = error;
  return memory;
}

void* map_own_memory(std::size_t size) {
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

/// Pages of a new mapping are zeros already, which are valid counters.
Part zeros(void* memory, int ranks) {
  Part part(memory);
  part.header().ranks = ranks;
  return part;
}

bool is_whole(const Part& part, std::size_t size) {
  return part.header().magic == PartHeader::expected_magic && part.header().ranks > 0 &&
         Part::size_bytes(part.header().ranks) == size;
}

}  // namespace

std::optional<Part> create_part_file(const std::string& path, int ranks) {
  void* const memory = map_new_file(path, Part::size_bytes(ranks));
  if (memory == nullptr) return {};
  return zeros(memory, ranks);
}

Part create_part(int ranks) {
  return zeros(map_own_memory(Part::size_bytes(ranks)), ranks);
}

std::optional<Part> open_part(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return {};
  std::optional<Part> part;
  struct stat facts {};
  if (fstat(file, &facts) == 0 && static_cast<std::size_t>(facts.st_size) >= sizeof(PartHeader)) {
    const auto size = static_cast<std::size_t>(facts.st_size);
    void* const memory = map_shared(file, size);
    if (memory != nullptr) {
      part.emplace(memory);
      if (!is_whole(*part, size)) part.reset();
      if (!part) munmap(memory, size);
    }
  }
  close(file);
  return part;
}

}  // namespace selvage::profile
