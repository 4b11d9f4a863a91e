#include "sgd/io/idx_file.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::sgd {

class IdxFile::Reader {};

IdxFile::IdxFile(const std::string& path) {
  throw Error(ErrorKind::unsupported,
              fmt::format("{}: this build reads no IDX files, for want of zlib", path));
}
IdxFile::IdxFile(IdxFile&&) noexcept = default;
IdxFile::~IdxFile() = default;

void IdxFile::read(std::int64_t /*begin*/, std::span<std::uint8_t> /*values*/) const {}

}  // namespace selvage::sgd
