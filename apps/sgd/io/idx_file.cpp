#include "sgd/io/idx_file.hpp"

#include <selvage/error.hpp>
#include <selvage/special_file.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace selvage::sgd {
namespace {

constexpr std::uint8_t type_of_bytes = 0x08;

}  // namespace

/// gzread() gives what isn't compressed as it is.
class IdxFile::Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(nullptr, gzclose) {
    require_regular_file(path);
    file_.reset(gzopen(path.c_str(), "rb"));
    if (file_ == nullptr) refuse("cannot be opened");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::input, fmt::format("{}: {}", path_, why));
  }
  /// \return how many of them there were
  std::size_t read_some(std::span<std::uint8_t> bytes) const {
    constexpr std::size_t most = std::size_t{1} << 30;
    const auto wanted = static_cast<unsigned>(std::min(bytes.size(), most));
    const int count = gzread(file_.get(), bytes.data(), wanted);
    if (count < 0) refuse(last_error());
    return static_cast<std::size_t>(count);
  }
  void read(std::span<std::uint8_t> bytes) const {
    while (!bytes.empty()) {
      const std::size_t count = read_some(bytes);
      if (count == 0) refuse(fmt::format("ends {} bytes too early", bytes.size()));
      bytes = bytes.subspan(count);
    }
  }
  /// To the array's type and extent, and behind them. \return the extent
  std::vector<std::int64_t> read_header() {
    std::array<std::uint8_t, 4> magic{};
    read(magic);
    if (magic[0] != 0 || magic[1] != 0 || magic[2] != type_of_bytes || magic[3] == 0)
      refuse("is no IDX file of bytes");
    std::vector<std::int64_t> extent;
    count_ = 1;
    for (int i = 0; i < magic[3]; ++i) {
      std::array<std::uint8_t, 4> bytes{};
      read(bytes);
      extent.push_back(std::int64_t{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
      if (extent.back() == 0) refuse("has no elements");
      if (count_ > (std::int64_t{1} << 36) / extent.back())
        refuse("says that it has more than 2^36 elements");
      count_ *= extent.back();
    }
    header_bytes_ = 4 + 4 * std::int64_t{magic[3]};
    return extent;
  }
  [[nodiscard]] bool is_compressed() const { return gzdirect(file_.get()) == 0; }
  void require_length() const {
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path_));
    const std::int64_t wanted = header_bytes_ + count_;
    if (bytes < wanted) refuse(fmt::format("ends {} bytes too early", wanted - bytes));
    if (bytes > wanted) refuse("is longer than it says");
  }
  [[nodiscard]] std::vector<std::uint8_t> unpack() const {
    // By pieces: a file that promises too much must not take the memory.
    constexpr std::size_t piece = std::size_t{1} << 24;
    std::vector<std::uint8_t> values;
    const auto count = static_cast<std::size_t>(count_);
    while (values.size() < count) {
      const std::size_t begin = values.size();
      values.resize(std::min(count, begin + piece));
      read(std::span(values).subspan(begin));
    }
    std::array<std::uint8_t, 1> surplus{};
    if (read_some(surplus) > 0) refuse("is longer than it says");
    return values;
  }
  void seek(std::int64_t element) const {
    if (gzseek(file_.get(), header_bytes_ + element, SEEK_SET) < 0)
      refuse(fmt::format("can't be read at element {}", element));
  }

 private:
  /// As zlib has it, which may begin with the path.
  [[nodiscard]] std::string last_error() const {
    int code = 0;
    const std::string text = gzerror(file_.get(), &code);
    const std::string prefix = path_ + ": ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  }

  std::string path_;
  std::unique_ptr<gzFile_s, decltype(&gzclose)> file_;
  std::int64_t header_bytes_ = 0;
  std::int64_t count_ = 0;
};

IdxFile::IdxFile(const std::string& path)
    : reader_(std::make_unique<Reader>(path)), extent_(reader_->read_header()) {
  if (reader_->is_compressed()) {
    unpacked_ = reader_->unpack();
  } else {
    reader_->require_length();
  }
}
IdxFile::IdxFile(IdxFile&&) noexcept = default;
IdxFile::~IdxFile() = default;

void IdxFile::read(std::int64_t begin, std::span<std::uint8_t> values) const {
  if (!unpacked_.empty()) {
    std::copy_n(unpacked_.begin() + begin, values.size(), values.begin());
    return;
  }
  reader_->seek(begin);
  reader_->read(values);
}

}  // namespace selvage::sgd
