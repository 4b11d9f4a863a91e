#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace selvage::app {

enum class ElementType { float32, float64, int32, int64 };

template <class T>
[[nodiscard]] constexpr ElementType element_type_of();
template <>
constexpr ElementType element_type_of<float>() {
  return ElementType::float32;
}
template <>
constexpr ElementType element_type_of<double>() {
  return ElementType::float64;
}
template <>
constexpr ElementType element_type_of<std::int32_t>() {
  return ElementType::int32;
}
template <>
constexpr ElementType element_type_of<std::int64_t>() {
  return ElementType::int64;
}

[[nodiscard]] std::size_t bytes_of(ElementType type);
[[nodiscard]] std::string_view to_string(ElementType type);

/// A rank's box of a global array: cells [begin, end) along 1 to 3 axes, slowest axis first. Empty boxes are
/// fine.
struct ArrayBox {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> end;
  [[nodiscard]] std::int64_t count() const;
};

/// One global array as a rank sees it: its box and the values in it, in host memory, contiguous and row-major
/// (the last axis fastest), without ghosts. The boxes of all ranks tile the array; name, type and extent are
/// the same on all.
struct ArrayBlock {
  std::string name;
  ElementType type;
  std::vector<std::int64_t> extent;  ///< of the global array, 1 to 3 axes, slowest first
  ArrayBox box;
  /// Shared, since a thread that write_hdf5() has given up goes on reading them while the caller's memory is freed.
  std::shared_ptr<const void> data;
};

/// Values for an array_block(), of which it becomes an owner.
template <class T>
[[nodiscard]] std::shared_ptr<const T> shared_values(std::vector<T> values) {
  const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  return {owner, owner->data()};
}

/// \param values  box.count() of them
template <class T>
[[nodiscard]] ArrayBlock array_block(std::string name, std::vector<std::int64_t> extent, ArrayBox box,
                                     std::shared_ptr<const T> values) {
  return {std::move(name), element_type_of<T>(), std::move(extent), std::move(box), std::move(values)};
}

/// \param values  as above, copied
template <class T>
[[nodiscard]] ArrayBlock array_block(std::string name, std::vector<std::int64_t> extent, ArrayBox box,
                                     std::span<const T> values) {
  return array_block(std::move(name), std::move(extent), std::move(box),
                     shared_values(std::vector<T>(values.begin(), values.end())));
}

using Attribute = std::variant<std::int64_t, double, std::string>;
using Attributes = std::map<std::string, Attribute>;

/// A list as an attribute: of whole numbers, or of texts.
using ListAttributes =
    std::map<std::string, std::variant<std::vector<std::int64_t>, std::vector<std::string>>>;

/// How the ranks' boxes get into the file: each rank writes its own (parallel HDF5), or rank 0 writes for
/// all.
enum class WriteMode { automatic, parallel, gathered };

/// "1.10.8, parallel" or "1.10.8, serial, gathered on rank 0".
[[nodiscard]] std::string describe_hdf5();

/// Writes one HDF5 file with these arrays and attributes. Collective over `comm`.
///
/// A name may be a path, "particles/all/id": its groups are made. The attribute "h5md/version" is one of the group
/// h5md, "version" one of the root group.
///
/// The file is written as PATH.partial, flushed to the disk and renamed, so PATH is either the earlier file
/// or the complete new one.
///
/// Each array carries checksums of its values by blocks (ChecksumBlocks), as attributes, which Hdf5Reader verifies. Attributes,
/// names and extents have none.
/// \throws AgreedError{io} with path and reason on all ranks; the partial file is then removed. Error{timeout} where it takes
///         longer than io_timeout_ms(): the job must then end, since a thread may still be in MPI or HDF5, reading the values,
///         which are then kept.
void write_hdf5(MPI_Comm comm, const std::string& path, std::span<const ArrayBlock> arrays,
                const Attributes& attributes, WriteMode mode = WriteMode::automatic,
                const ListAttributes& lists = {});

/// Reads an HDF5 file, e.g. to restart on any number of ranks. The constructor and read() are not
/// collective; each rank opens the file by itself.
///
/// Of an array that carries checksums, every block is read and verified before a value in it is first given out. Arrays without
/// checksums, of other programs and earlier versions, are read as they are.
/// \throws Error{input} for a file that is absent, truncated, or lacks what is asked, and for damaged values.
class Hdf5Reader {
 public:
  explicit Hdf5Reader(std::string path);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  /// The names of all arrays of the root group, sorted.
  [[nodiscard]] std::vector<std::string> arrays() const;
  /// The names of all groups in a group, sorted.
  [[nodiscard]] std::vector<std::string> groups_in(const std::string& parent) const;
  [[nodiscard]] bool has_array(const std::string& name) const;
  /// An attribute's name may be a path, too: "particles/all/box/boundary" is one of the group particles/all/box.
  [[nodiscard]] bool has_attribute(const std::string& name) const;
  [[nodiscard]] std::int64_t integer(const std::string& attribute) const;
  [[nodiscard]] double real(const std::string& attribute) const;
  [[nodiscard]] std::string text(const std::string& attribute) const;
  /// Of fixed or variable length; a scalar is a list of one.
  [[nodiscard]] std::vector<std::string> texts(const std::string& attribute) const;
  /// What describes the run that a file is of has to be equal in the run that goes on from it.
  /// \throws Error{input} that names the first attribute that is another, and both values
  void require(const Attributes& wanted) const;
  /// The global extents, slowest axis first.
  [[nodiscard]] std::vector<std::int64_t> extent(const std::string& array) const;
  /// The type that holds any value of the array, whatever the order of its bytes.
  [[nodiscard]] ElementType type(const std::string& array) const;

  /// Reads one box into `values` (box.count() of them, host memory, row-major). The array's type() must be T's:
  /// a restart in another precision could not be bit-identical.
  template <class T>
  void read(const std::string& array, const ArrayBox& box, std::span<T> values) const {
    read_bytes(array, box, element_type_of<T>(), values.data(), values.size());
  }

  /// Reads rows, places along the first axis, in any order, each by a selection of its own.
  /// \param values  rows.size() rows, as long as the array's, in host memory
  template <class T>
  void read_rows(const std::string& array, std::span<const std::int64_t> rows, std::span<T> values) const {
    read_row_bytes(array, rows, element_type_of<T>(), values.data(), values.size());
  }

 private:
  /// What an array's checksums are, and which of its blocks need no more look.
  struct Checked {
    std::vector<std::int64_t> block;
    std::vector<std::int64_t> sums;  ///< none where the array carries none
    std::vector<bool> is_verified;
  };

  /// The attribute in the type that `like` has.
  [[nodiscard]] Attribute read_like(const std::string& attribute, const Attribute& like) const;
  void require_type(const std::string& array, ElementType wanted) const;
  [[nodiscard]] Checked& checked(const std::string& array, std::int64_t dataset) const;
  /// Of all blocks that have a cell of the box.
  void verify(const std::string& array, std::int64_t dataset, const ArrayBox& box, ElementType type) const;
  void read_row_bytes(const std::string& array, std::span<const std::int64_t> rows, ElementType type,
                      void* values, std::size_t count) const;
  void read_bytes(const std::string& array, const ArrayBox& box, ElementType type, void* values,
                  std::size_t count) const;

  std::string path_;
  std::int64_t file_;  ///< hid_t, which HDF5 promises to be 64 bits wide since 1.10
  mutable std::map<std::string, Checked> checked_;
};

}  // namespace selvage::app
