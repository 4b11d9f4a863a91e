#include "hdf5_handle.hpp"
#include "traffic_hdf5.hpp"

#include <selvage/special_file.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

namespace selvage::topo {
namespace {

/// One file that is being read.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {
    if (is_special_file(path_)) require_regular_file(path_);
    file_ = Hdf5Id(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file_.is_valid()) throw Error(ErrorKind::input, fmt::format("{}: {}", path_, why_not_open()));
  }

  [[noreturn]] void fail(const char* where, const std::string& what) const {
    throw Error(ErrorKind::input, fmt::format("{}: {}: {}", path_, where, what));
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool has_attribute(const char* name) const { return H5Aexists(file_.get(), name) > 0; }
  [[nodiscard]] int integer_attribute(const char* name) const;
  [[nodiscard]] bool says_incomplete() const;
  [[nodiscard]] std::optional<double> seconds_attribute(const char* name) const;
  [[nodiscard]] std::optional<std::string> text_attribute(const char* name) const;
  [[nodiscard]] std::vector<std::uint64_t> histogram(const char* group, const char* name) const;
  /// A dataset of whole numbers of 64 bits of the given size. Other widths and signs can lose values when converted.
  [[nodiscard]] Hdf5Id dataset(const char* name, const std::vector<hsize_t>& size) const;
  void require_filters(const Hdf5Id& data, const char* name) const;
  /// `count` rows of a matrix from `first` on.
  void rows(const Hdf5Id& matrix, const char* name, const std::array<hsize_t, 2>& first,
            const std::array<hsize_t, 2>& count, std::vector<std::uint64_t>& values) const;

 private:
  [[nodiscard]] Hdf5Id attribute(const char* name, H5T_class_t type_class, const char* form) const;

  /// Of a run under the profiler that ended early there may be parts alone.
  [[nodiscard]] const char* why_not_open() const {
    std::error_code ignored;
    if (std::filesystem::exists(path_, ignored)) return "not an HDF5 file that can be read";
    return std::filesystem::exists(path_ + ".rank0", ignored)
               ? "there is no such file, but parts of one: selvage-profile-merge makes it of them"
               : "there is no such file";
  }

  template <typename Result>
  Result check(Result result, const char* where) const {
    if (result < 0) fail(where, "HDF5 cannot read it");
    return result;
  }

  std::string path_;
  Hdf5Id file_;
};

Hdf5Id Reader::attribute(const char* name, H5T_class_t type_class, const char* form) const {
  if (!has_attribute(name)) fail(name, "the attribute is missing");
  Hdf5Id id(check(H5Aopen(file_.get(), name, H5P_DEFAULT), name), H5Aclose);
  const Hdf5Id type(check(H5Aget_type(id.get()), name), H5Tclose);
  const Hdf5Id space(check(H5Aget_space(id.get()), name), H5Sclose);
  if (H5Tget_class(type.get()) != type_class || H5Sget_simple_extent_npoints(space.get()) != 1) {
    fail(name, fmt::format("the attribute is not {}", form));
  }
  return id;
}

int Reader::integer_attribute(const char* name) const {
  const Hdf5Id id = attribute(name, H5T_INTEGER, "a whole number");
  long long value = 0;
  check(H5Aread(id.get(), H5T_NATIVE_LLONG, &value), name);
  if (value < 0 || value > std::numeric_limits<int>::max())
    fail(name, fmt::format("{} is out of range", value));
  return static_cast<int>(value);
}

bool Reader::says_incomplete() const {
  return has_attribute("complete") && integer_attribute("complete") == 0;
}

std::optional<double> Reader::seconds_attribute(const char* name) const {
  if (!has_attribute(name)) return std::nullopt;
  const Hdf5Id id = attribute(name, H5T_FLOAT, "a floating-point number");
  double value = 0;
  check(H5Aread(id.get(), H5T_NATIVE_DOUBLE, &value), name);
  if (!std::isfinite(value) || value < 0) fail(name, fmt::format("{} is not a time", value));
  return value;
}

std::optional<std::string> Reader::text_attribute(const char* name) const {
  if (!has_attribute(name)) return std::nullopt;
  const Hdf5Id id = attribute(name, H5T_STRING, "a text");
  const Hdf5Id type(check(H5Aget_type(id.get()), name), H5Tclose);
  if (H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    check(H5Aread(id.get(), type.get(), &text), name);
    const std::string copy = text == nullptr ? "" : text;
    (void)H5free_memory(text);
    return copy;
  }
  constexpr std::size_t longest = 65536;
  const std::size_t size = H5Tget_size(type.get());
  if (size > longest) fail(name, fmt::format("a text of {} bytes", size));
  std::string text(size, '\0');
  check(H5Aread(id.get(), type.get(), text.data()), name);
  return text.substr(0, text.find('\0'));
}

Hdf5Id Reader::dataset(const char* name, const std::vector<hsize_t>& size) const {
  Hdf5Id id(H5Dopen2(file_.get(), name, H5P_DEFAULT), H5Dclose);
  if (!id.is_valid()) fail(name, "the dataset is missing");
  const Hdf5Id type(check(H5Dget_type(id.get()), name), H5Tclose);
  if (H5Tget_class(type.get()) != H5T_INTEGER || H5Tget_size(type.get()) != sizeof(std::uint64_t) ||
      H5Tget_sign(type.get()) != H5T_SGN_NONE) {
    fail(name, "the numbers are not of type uint64");
  }
  const Hdf5Id space(check(H5Dget_space(id.get()), name), H5Sclose);
  const int dimensions = check(H5Sget_simple_extent_ndims(space.get()), name);
  std::vector<hsize_t> extent(static_cast<std::size_t>(dimensions));
  if (dimensions > 0) check(H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr), name);
  if (extent != size) {
    fail(name, fmt::format("the size is {} instead of {}", fmt::join(extent, " x "), fmt::join(size, " x ")));
  }
  require_filters(id, name);
  return id;
}

void Reader::require_filters(const Hdf5Id& data, const char* name) const {
  const Hdf5Id layout(check(H5Dget_create_plist(data.get()), name), H5Pclose);
  const int filters = H5Pget_nfilters(layout.get());
  for (int i = 0; i < filters; ++i) {
    std::array<char, 64> text{};
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(layout.get(), static_cast<unsigned>(i), nullptr, &values,
                                               nullptr, text.size() - 1, text.data(), nullptr);
    if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
    fail(name,
         fmt::format(
             "it is packed by HDF5's filter {} ({}), which is not there: unpack it with h5repack -f NONE",
             static_cast<int>(filter), text[0] == 0 ? "no name" : text.data()));
  }
}

std::vector<std::uint64_t> Reader::histogram(const char* group, const char* name) const {
  if (H5Lexists(file_.get(), group, H5P_DEFAULT) <= 0 || H5Lexists(file_.get(), name, H5P_DEFAULT) <= 0)
    return {};
  const Hdf5Id data = dataset(name, {TrafficFacts::histogram_size});
  std::vector<std::uint64_t> counts(TrafficFacts::histogram_size);
  check(H5Dread(data.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, counts.data()), name);
  return counts;
}

void Reader::rows(const Hdf5Id& matrix, const char* name, const std::array<hsize_t, 2>& first,
                  const std::array<hsize_t, 2>& count, std::vector<std::uint64_t>& values) const {
  const Hdf5Id space(check(H5Dget_space(matrix.get()), name), H5Sclose);
  const Hdf5Id memory(check(H5Screate_simple(2, count.data(), nullptr), name), H5Sclose);
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr), name);
  values.resize(count[0] * count[1]);
  check(H5Dread(matrix.get(), H5T_NATIVE_UINT64, memory.get(), space.get(), H5P_DEFAULT, values.data()),
        name);
}

/// The four matrices, some rows of each at a time, so that no dense matrix is ever in memory.
std::vector<TrafficEntry> read_matrices(const Reader& reader, int ranks) {
  constexpr std::array<const char*, 4> names = {"host/bytes", "host/messages", "device/bytes",
                                                "device/messages"};
  constexpr hsize_t most_cells = 1 << 20;
  const auto size = static_cast<hsize_t>(ranks);
  std::array<Hdf5Id, 4> matrices;
  std::array<std::vector<std::uint64_t>, 4> values;
  for (std::size_t i = 0; i < names.size(); ++i) matrices[i] = reader.dataset(names[i], {size, size});
  std::vector<TrafficEntry> entries;
  const hsize_t step = std::clamp<hsize_t>(most_cells / std::max<hsize_t>(size, 1), 1, 64);
  for (hsize_t first = 0; first < size; first += step) {
    const hsize_t count = std::min(step, size - first);
    for (std::size_t i = 0; i < names.size(); ++i)
      reader.rows(matrices[i], names[i], {first, 0}, {count, size}, values[i]);
    for (hsize_t cell = 0; cell < count * size; ++cell) {
      const TrafficEntry entry{.from = static_cast<int>(first + cell / size),
                               .to = static_cast<int>(cell % size),
                               .host = {values[0][cell], values[1][cell]},
                               .device = {values[2][cell], values[3][cell]}};
      if (entry.host != Amount{} || entry.device != Amount{}) entries.push_back(entry);
    }
  }
  return entries;
}

}  // namespace

Traffic read_traffic_hdf5(const std::string& path) {
  const QuietHdf5 quiet;
  const Reader reader(path);
  const int version = reader.integer_attribute("selvage_traffic_version");
  if (version != 1)
    reader.fail("selvage_traffic_version", fmt::format("version {} is unknown, 1 is known", version));
  const int ranks = reader.integer_attribute("ranks");
  if (ranks > Traffic::max_ranks) reader.fail("ranks", fmt::format("{} pass {}", ranks, Traffic::max_ranks));
  TrafficFacts facts{.mpi_library = reader.text_attribute("library"),
                     .seconds = reader.seconds_attribute("seconds"),
                     .communication_seconds = reader.seconds_attribute("communication_seconds"),
                     .host_histogram = reader.histogram("host", "host/histogram"),
                     .device_histogram = reader.histogram("device", "device/histogram"),
                     .is_incomplete = reader.says_incomplete()};
  return Traffic(ranks, read_matrices(reader, ranks), std::move(facts));
}

}  // namespace selvage::topo
