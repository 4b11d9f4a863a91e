#include "memory/arena.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace selvage::detail {
namespace {

TEST(Arena, GivesZeroedPages) {
  Arena arena;
  const std::byte* block = arena.allocate(10'000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % sysconf(_SC_PAGESIZE), 0U);
  EXPECT_TRUE(std::all_of(block, block + 10'000, [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(Arena, GivesABlockForNoBytesToo) {
  Arena arena;
  std::byte* first = arena.allocate(0);
  std::byte* second = arena.allocate(0);
  EXPECT_NE(first, second);
  EXPECT_NO_THROW(arena.deallocate(first));
  EXPECT_NO_THROW(arena.deallocate(second));
}

TEST(Arena, FindsOnlyWhatLiesInOneBlock) {
  Arena arena;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::byte* block = arena.allocate(2 * page);
  const auto found = arena.find(block + 100, 50);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset, 100U);
  EXPECT_EQ(found->segment_bytes, 2 * page);
  EXPECT_EQ(found->process, getpid());
  EXPECT_TRUE(arena.find(block, 2 * page));
  EXPECT_FALSE(arena.find(block, 2 * page + 1));
  EXPECT_FALSE(arena.find(block - 1, 2));
  int elsewhere = 0;
  EXPECT_FALSE(arena.find(&elsewhere, sizeof elsewhere));
}

TEST(Arena, RefusesToDeallocateWhatItDidNotGive) {
  Arena arena;
  std::byte* block = arena.allocate(64);
  EXPECT_THROW(arena.deallocate(block + 1), Error);
  arena.deallocate(block);
  try {
    arena.deallocate(block);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.message().find("is not the start of a shared block"), std::string::npos);
  }
}

TEST(Arena, SaysWhenTheSystemHasNoSuchMemory) {
  Arena arena;
  for (const std::size_t bytes : {std::numeric_limits<std::size_t>::max(), std::size_t{1} << 62}) {
    try {
      static_cast<void>(arena.allocate(bytes));
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_NE(error.native_code(), 0);
    }
  }
}

// The system would give it, and end whoever fills it.
TEST(Arena, GivesNoMoreThanTheHostHas) {
  struct sysinfo host {};
  ASSERT_EQ(sysinfo(&host), 0);
  const std::size_t all = (host.totalram + host.totalswap) * host.mem_unit;
  Arena arena;
  try {
    static_cast<void>(arena.allocate(all + 1));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(error.message().find(std::to_string(all)), std::string::npos) << error.message();
  }
}

TEST(PeerMappings, MapASegmentOnceAsLongAsItIsUsed) {
  Arena arena;
  PeerMappings mappings;
  std::byte* block = arena.allocate(4096);
  auto first = mappings.map(*arena.find(block, 8));
  auto second = mappings.map(*arena.find(block + 16, 8));
  EXPECT_NE(first.data, block);
  EXPECT_EQ(second.data, first.data + 16);
  EXPECT_EQ(first.owner, second.owner);
  second.data[0] = std::byte{42};
  EXPECT_EQ(block[16], std::byte{42});
}

TEST(PeerMappings, KeepTheMemoryOfABlockThatWasGivenBack) {
  Arena arena;
  PeerMappings mappings;
  std::byte* block = arena.allocate(4096);
  std::memset(block, 7, 4096);
  const auto mapped = mappings.map(*arena.find(block, 4096));
  arena.deallocate(block);
  EXPECT_EQ(mapped.data[4095], std::byte{7});
}

TEST(PeerMappings, SayWhatCannotBeOpened) {
  Arena arena;
  PeerMappings mappings;
  std::byte* block = arena.allocate(4096);
  const SharedRange stale = *arena.find(block, 8);
  arena.deallocate(block);
  try {
    static_cast<void>(mappings.map(stale));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(error.message().find("cannot open another rank's shared memory"), std::string::npos);
  }
}

// Two containers of one host number their processes alike: this rank's own file has the other's name.
TEST(PeerMappings, TellAnotherFileOfTheSameName) {
  Arena arena;
  PeerMappings mappings;
  SharedRange theirs = *arena.find(arena.allocate(4096), 8);
  const SharedRange own = theirs;
  ++theirs.inode;
  const auto mapped = mappings.map(own);
  try {
    static_cast<void>(mappings.map(theirs));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(error.message().find("is another file"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace selvage::detail
