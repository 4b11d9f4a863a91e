#include "common/checksum_blocks.hpp"
#include "common/hdf5_objects.hpp"

#include <selvage/file_descriptor.hpp>
#include <selvage/special_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace selvage::app {
namespace {

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw Error(ErrorKind::input, fmt::format("{}: {}", path, why));
}

/// HDF5 calls an absent file, a directory and a truncated file all "unable to open", and waits for who writes to a pipe.
hid_t open_file(const std::string& path) {
  silence_hdf5();
  require_regular_file(path);
  // Closing it forgets why the file couldn't be opened.
  const Hdf5Handle access = serial_access();
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id());
  if (file >= 0) return file;
  const std::string reason = hdf5_reason();
  // HDF5 has one code for all that goes wrong.
  if (FileDescriptor(path, O_RDONLY).number() < 0) throw_unreadable(path, errno);
  refuse(path, fmt::format("is not a complete HDF5 file: {}", reason));
}

Hdf5Handle open_dataset(hid_t file, const std::string& path, const std::string& name) {
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  if (dataset < 0) refuse(path, fmt::format("has no array '{}'", name));
  return {dataset, H5Dclose};
}

/// "particles/all/box/boundary" is an attribute of the object at particles/all/box, "boundary" one of the root group.
struct AttributePath {
  explicit AttributePath(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash != std::string::npos) object = path.substr(0, slash);
    name = slash == std::string::npos ? path : path.substr(slash + 1);
  }
  std::string object = ".";
  std::string name;
};

Hdf5Handle open_attribute(hid_t file, const std::string& path, const std::string& name, H5T_class_t wanted) {
  const AttributePath place(name);
  const hid_t id = H5Aopen_by_name(file, place.object.c_str(), place.name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  if (id < 0) refuse(path, fmt::format("has no attribute '{}'", name));
  Hdf5Handle attribute(id, H5Aclose);
  const Hdf5Handle type(check_hdf5(H5Aget_type(id), "H5Aget_type", ErrorKind::input), H5Tclose);
  if (H5Tget_class(type.id()) != wanted) refuse(path, fmt::format("attribute '{}' has another type", name));
  return attribute;
}

/// The same of one value.
Hdf5Handle open_single(hid_t file, const std::string& path, const std::string& name, H5T_class_t wanted) {
  Hdf5Handle attribute = open_attribute(file, path, name, wanted);
  const Hdf5Handle space(check_hdf5(H5Aget_space(attribute.id()), "H5Aget_space", ErrorKind::input),
                         H5Sclose);
  const hssize_t count =
      check_hdf5(H5Sget_simple_extent_npoints(space.id()), "H5Sget_simple_extent_npoints", ErrorKind::input);
  if (count != 1) refuse(path, fmt::format("attribute '{}' has {} values instead of one", name, count));
  return attribute;
}

std::vector<std::int64_t> extent_of(const Hdf5Handle& dataset) {
  const Hdf5Handle space(check_hdf5(H5Dget_space(dataset.id()), "H5Dget_space", ErrorKind::input), H5Sclose);
  const int axes =
      check_hdf5(H5Sget_simple_extent_ndims(space.id()), "H5Sget_simple_extent_ndims", ErrorKind::input);
  std::vector<hsize_t> extent(static_cast<std::size_t>(axes));
  check_hdf5(H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr), "H5Sget_simple_extent_dims",
             ErrorKind::input);
  return {extent.begin(), extent.end()};
}

std::string name_of_link(hid_t group, hsize_t index) {
  const auto name_into = [&](char* text, std::size_t bytes) {
    const auto length =
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, text, bytes, H5P_DEFAULT);
    return static_cast<std::size_t>(check_hdf5(length, "H5Lget_name_by_idx", ErrorKind::input));
  };
  std::string name(name_into(nullptr, 0), '\0');
  name_into(name.data(), name.size() + 1);
  return name;
}

/// Links that lead nowhere are left out.
std::vector<std::string> members_of(hid_t group, const std::string& path, H5I_type_t wanted) {
  H5G_info_t info = {};
  check_hdf5(H5Gget_info(group, &info), path, ErrorKind::input);
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    std::string name = name_of_link(group, i);
    const Hdf5Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
    if (object.valid() && H5Iget_type(object.id()) == wanted) names.push_back(std::move(name));
  }
  return names;
}

/// What any value of a stored type fits into; nothing where none does. HDF5 converts as it reads.
std::optional<ElementType> fitting(hid_t stored) {
  const std::size_t bytes = H5Tget_size(stored);
  if (bytes > 8) return std::nullopt;
  switch (H5Tget_class(stored)) {
    case H5T_FLOAT:
      return bytes > 4 ? ElementType::float64 : ElementType::float32;
    case H5T_INTEGER:
      return bytes > 4 || (bytes == 4 && H5Tget_sign(stored) == H5T_SGN_NONE) ? ElementType::int64
                                                                              : ElementType::int32;
    default:
      return std::nullopt;
  }
}

/// An attribute of a dataset; nothing where it has none of that name.
std::vector<std::int64_t> whole_numbers(hid_t dataset, const std::string& what, const char* name) {
  if (H5Aexists(dataset, name) <= 0) return {};
  const Hdf5Handle attribute(check_hdf5(H5Aopen(dataset, name, H5P_DEFAULT), what, ErrorKind::input),
                             H5Aclose);
  const Hdf5Handle space(check_hdf5(H5Aget_space(attribute.id()), what, ErrorKind::input), H5Sclose);
  const auto count = check_hdf5(H5Sget_simple_extent_npoints(space.id()), what, ErrorKind::input);
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  check_hdf5(H5Aread(attribute.id(), H5T_NATIVE_INT64, values.data()), what, ErrorKind::input);
  return values;
}

/// Reads one box, by this rank alone.
void read_box(hid_t dataset, const ArrayBox& box, const std::vector<std::int64_t>& extent, ElementType type,
              void* values, const std::string& what) {
  const Hdf5Handle to = memory_space(box);
  const Hdf5Handle from = select_box(extent, box);
  check_hdf5(H5Dread(dataset, native_type(type), to.id(), from.id(), H5P_DEFAULT, values), what,
             ErrorKind::input);
}

std::uint64_t checksum_of(hid_t dataset, const ChecksumBlocks& blocks, std::size_t number,
                          const std::vector<std::int64_t>& extent, ElementType type,
                          const std::string& what) {
  const ArrayBox box = blocks.box_of(number);
  std::vector<std::byte> values(static_cast<std::size_t>(box.count()) * bytes_of(type));
  read_box(dataset, box, extent, type, values.data(), what);
  std::vector<std::uint64_t> sums(blocks.count());
  blocks.add(box, type, values.data(), sums);
  return sums[number];
}

bool lies_within(const ArrayBox& box, const std::vector<std::int64_t>& extent) {
  if (box.begin.size() != extent.size() || box.end.size() != extent.size()) return false;
  for (std::size_t axis = 0; axis < extent.size(); ++axis) {
    if (box.begin[axis] < 0 || box.begin[axis] > box.end[axis] || box.end[axis] > extent[axis]) return false;
  }
  return true;
}

}  // namespace

Hdf5Reader::Hdf5Reader(std::string path) : path_(std::move(path)), file_(open_file(path_)) {
  static_assert(sizeof(hid_t) == sizeof(std::int64_t));
}

Hdf5Reader::~Hdf5Reader() {
  H5Fclose(file_);
}

std::vector<std::string> Hdf5Reader::arrays() const {
  return members_of(file_, path_, H5I_DATASET);
}

std::vector<std::string> Hdf5Reader::groups_in(const std::string& parent) const {
  const Hdf5Handle group(H5Gopen2(file_, parent.c_str(), H5P_DEFAULT), H5Gclose);
  if (!group.valid()) refuse(path_, fmt::format("has no group '{}'", parent));
  return members_of(group.id(), path_, H5I_GROUP);
}

bool Hdf5Reader::has_array(const std::string& name) const {
  return H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0;
}

bool Hdf5Reader::has_attribute(const std::string& name) const {
  const AttributePath place(name);
  return H5Aexists_by_name(file_, place.object.c_str(), place.name.c_str(), H5P_DEFAULT) > 0;
}

std::int64_t Hdf5Reader::integer(const std::string& attribute) const {
  const Hdf5Handle handle = open_single(file_, path_, attribute, H5T_INTEGER);
  std::int64_t value = 0;
  check_hdf5(H5Aread(handle.id(), H5T_NATIVE_INT64, &value), path_ + ": " + attribute, ErrorKind::input);
  return value;
}

double Hdf5Reader::real(const std::string& attribute) const {
  const Hdf5Handle handle = open_single(file_, path_, attribute, H5T_FLOAT);
  double value = 0;
  check_hdf5(H5Aread(handle.id(), H5T_NATIVE_DOUBLE, &value), path_ + ": " + attribute, ErrorKind::input);
  return value;
}

std::string Hdf5Reader::text(const std::string& attribute) const {
  const Hdf5Handle handle = open_single(file_, path_, attribute, H5T_STRING);
  const Hdf5Handle type(check_hdf5(H5Aget_type(handle.id()), "H5Aget_type", ErrorKind::input), H5Tclose);
  if (H5Tis_variable_str(type.id()) > 0)
    refuse(path_, fmt::format("attribute '{}' has another type", attribute));
  std::string value(H5Tget_size(type.id()), '\0');
  check_hdf5(H5Aread(handle.id(), type.id(), value.data()), path_ + ": " + attribute, ErrorKind::input);
  value.resize(std::strlen(value.c_str()));
  return value;
}

std::vector<std::string> Hdf5Reader::texts(const std::string& attribute) const {
  const Hdf5Handle handle = open_attribute(file_, path_, attribute, H5T_STRING);
  const Hdf5Handle type(check_hdf5(H5Aget_type(handle.id()), "H5Aget_type", ErrorKind::input), H5Tclose);
  const Hdf5Handle space(check_hdf5(H5Aget_space(handle.id()), "H5Aget_space", ErrorKind::input), H5Sclose);
  const auto count = static_cast<std::size_t>(
      check_hdf5(H5Sget_simple_extent_npoints(space.id()), "H5Sget_simple_extent_npoints", ErrorKind::input));
  std::vector<std::string> values(count);
  if (H5Tis_variable_str(type.id()) > 0) {
    std::vector<char*> pointers(count);
    check_hdf5(H5Aread(handle.id(), type.id(), pointers.data()), path_ + ": " + attribute, ErrorKind::input);
    for (std::size_t i = 0; i < count; ++i) values[i] = pointers[i] == nullptr ? "" : pointers[i];
    H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, pointers.data());
    return values;
  }
  const std::size_t width = H5Tget_size(type.id());
  std::string all(count * width, '\0');
  check_hdf5(H5Aread(handle.id(), type.id(), all.data()), path_ + ": " + attribute, ErrorKind::input);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view field = std::string_view(all).substr(i * width, width);
    values[i] = field.substr(0, field.find('\0'));
  }
  return values;
}

Attribute Hdf5Reader::read_like(const std::string& attribute, const Attribute& like) const {
  if (std::holds_alternative<std::int64_t>(like)) return integer(attribute);
  if (std::holds_alternative<double>(like)) return real(attribute);
  return text(attribute);
}

void Hdf5Reader::require(const Attributes& wanted) const {
  const auto to_text = [](const auto& value) { return fmt::format("{}", value); };
  for (const auto& [name, value] : wanted) {
    const Attribute found = read_like(name, value);
    if (found == value) continue;
    throw Error(ErrorKind::input,
                fmt::format("{} can't be continued here: its {} is {}, and this run's is {}", path_, name,
                            std::visit(to_text, found), std::visit(to_text, value)));
  }
}

std::vector<std::int64_t> Hdf5Reader::extent(const std::string& array) const {
  return extent_of(open_dataset(file_, path_, array));
}

ElementType Hdf5Reader::type(const std::string& array) const {
  const Hdf5Handle dataset = open_dataset(file_, path_, array);
  const Hdf5Handle stored(check_hdf5(H5Dget_type(dataset.id()), "H5Dget_type", ErrorKind::input), H5Tclose);
  const auto type = fitting(stored.id());
  if (!type) refuse(path_, fmt::format("array '{}' holds no numbers of at most 64 bits", array));
  return *type;
}

void Hdf5Reader::require_type(const std::string& array, ElementType wanted) const {
  const ElementType found = type(array);
  if (found != wanted)
    refuse(path_, fmt::format("array '{}' holds {}, not {}", array, to_string(found), to_string(wanted)));
}

Hdf5Reader::Checked& Hdf5Reader::checked(const std::string& array, std::int64_t dataset) const {
  const auto [place, is_new] = checked_.try_emplace(array);
  Checked& checked = place->second;
  if (!is_new) return checked;
  const std::string what = fmt::format("{}: the checksums of '{}'", path_, array);
  checked.sums = whole_numbers(dataset, what, checksums_name);
  checked.block = whole_numbers(dataset, what, checksum_block_name);
  checked.is_verified.resize(checked.sums.size());
  return checked;
}

void Hdf5Reader::verify(const std::string& array, std::int64_t dataset, const ArrayBox& box,
                        ElementType type) const {
  Checked& known = checked(array, dataset);
  if (known.sums.empty()) return;
  const auto whole = extent(array);
  if (known.block.size() != whole.size() || std::ranges::any_of(known.block, [](auto n) { return n < 1; }))
    refuse(path_, fmt::format("the checksums of '{}' are damaged", array));
  const ChecksumBlocks blocks(whole, known.block);
  if (blocks.count() != known.sums.size())
    refuse(path_, fmt::format("the checksums of '{}' are not of as many values", array));
  const std::string what = fmt::format("{}: reading '{}'", path_, array);
  for (const std::size_t number : blocks.touching(box)) {
    if (known.is_verified[number]) continue;
    const std::uint64_t found = checksum_of(dataset, blocks, number, whole, type, what);
    const auto wanted = static_cast<std::uint64_t>(known.sums[number]);
    if (found != wanted) {
      const ArrayBox damaged = blocks.box_of(number);
      refuse(path_, fmt::format(
                        "the values of '{}' are damaged: the checksum of those from [{}] to [{}] is {:016x}, "
                        "and the file says {:016x}",
                        array, fmt::join(damaged.begin, ", "), fmt::join(damaged.end, ", "), found, wanted));
    }
    known.is_verified[number] = true;
  }
}

void Hdf5Reader::read_bytes(const std::string& array, const ArrayBox& box, ElementType wanted, void* values,
                            std::size_t count) const {
  const Hdf5Handle dataset = open_dataset(file_, path_, array);
  const auto whole = extent_of(dataset);
  require_type(array, wanted);
  if (!lies_within(box, whole)) refuse(path_, fmt::format("array '{}' has other extents", array));
  if (static_cast<std::size_t>(box.count()) != count) {
    throw Error(ErrorKind::usage,
                fmt::format("a box of {} cells does not fit {} values", box.count(), count));
  }
  if (count == 0) return;
  verify(array, dataset.id(), box, wanted);
  read_box(dataset.id(), box, whole, wanted, values, fmt::format("{}: reading '{}'", path_, array));
}

void Hdf5Reader::read_row_bytes(const std::string& array, std::span<const std::int64_t> rows,
                                ElementType wanted, void* values, std::size_t count) const {
  if (rows.empty()) return;
  const Hdf5Handle dataset = open_dataset(file_, path_, array);
  const auto whole = extent_of(dataset);
  require_type(array, wanted);
  ArrayBox box{std::vector<std::int64_t>(whole.size(), 0), whole};
  box.end.front() = 1;
  const auto of_row = static_cast<std::size_t>(box.count());
  if (rows.size() * of_row != count) {
    throw Error(ErrorKind::usage,
                fmt::format("{} rows of {} values do not fit {} values", rows.size(), of_row, count));
  }
  auto* next = static_cast<std::byte*>(values);
  for (const std::int64_t row : rows) {
    box.begin.front() = row;
    box.end.front() = row + 1;
    if (!lies_within(box, whole)) refuse(path_, fmt::format("array '{}' has no row {}", array, row));
    verify(array, dataset.id(), box, wanted);
    read_box(dataset.id(), box, whole, wanted, next, fmt::format("{}: reading '{}'", path_, array));
    next += of_row * bytes_of(wanted);
  }
}

}  // namespace selvage::app
