#include "common/hdf5_objects.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace selvage::app {
namespace {

std::vector<hsize_t> to_hsize(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

Hdf5Handle simple_space(const std::vector<hsize_t>& extent) {
  const int axes = static_cast<int>(extent.size());
  return {check_hdf5(H5Screate_simple(axes, extent.data(), nullptr), "H5Screate_simple"), H5Sclose};
}

Hdf5Handle copy_type(hid_t type) {
  return {check_hdf5(H5Tcopy(type), "H5Tcopy"), H5Tclose};
}

/// A type for texts of up to that length, and the null that ends them.
Hdf5Handle text_type(std::size_t length) {
  Hdf5Handle type = copy_type(H5T_C_S1);
  check_hdf5(H5Tset_size(type.id(), length + 1), "H5Tset_size");
  check_hdf5(H5Tset_cset(type.id(), H5T_CSET_UTF8), "H5Tset_cset");
  return type;
}

/// Makes missing groups of a path on the way.
Hdf5Handle with_groups() {
  Hdf5Handle options(check_hdf5(H5Pcreate(H5P_LINK_CREATE), "H5Pcreate"), H5Pclose);
  check_hdf5(H5Pset_create_intermediate_group(options.id(), 1), "H5Pset_create_intermediate_group");
  return options;
}

/// The group of that path, made where it isn't there yet.
Hdf5Handle group_at(hid_t file, const std::string& path) {
  std::string so_far;
  bool exists = true;
  for (std::size_t end = 0; exists && end != std::string::npos;) {
    end = path.find('/', so_far.empty() ? 0 : so_far.size() + 1);
    so_far = path.substr(0, end);
    exists = H5Lexists(file, so_far.c_str(), H5P_DEFAULT) > 0;
  }
  if (exists) return {check_hdf5(H5Gopen2(file, path.c_str(), H5P_DEFAULT), "H5Gopen2 of " + path), H5Gclose};
  const Hdf5Handle options = with_groups();
  const hid_t group = H5Gcreate2(file, path.c_str(), options.id(), H5P_DEFAULT, H5P_DEFAULT);
  return {check_hdf5(group, "H5Gcreate2 of " + path), H5Gclose};
}

void write_typed_attribute(hid_t file, const std::string& path, hid_t type, hid_t space, const void* data) {
  const std::size_t slash = path.rfind('/');
  Hdf5Handle group;
  if (slash != std::string::npos) group = group_at(file, path.substr(0, slash));
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const hid_t attribute =
      H5Acreate2(group.valid() ? group.id() : file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
  const Hdf5Handle handle(check_hdf5(attribute, "H5Acreate2 of " + path), H5Aclose);
  check_hdf5(H5Awrite(handle.id(), type, data), "H5Awrite of " + path);
}

/// "file write failed: time = ..., errno = 28, error message = 'No space left on device', buf = ..." without
/// what is of use to HDF5's own developers only.
std::string shorten(const std::string& reason) {
  const std::string_view marker = "error message = '";
  const auto begin = reason.find(marker);
  if (begin == std::string::npos) return reason;
  const auto text = begin + marker.size();
  return reason.substr(0, reason.find(':')) + ": " + reason.substr(text, reason.find('\'', text) - text);
}

herr_t keep_innermost(unsigned depth, const H5E_error2_t* error, void* reason) {
  if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(reason) = error->desc;
  return 0;
}

}  // namespace

std::string hdf5_reason() {
  std::string reason = "HDF5 gives no reason";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &reason);
  return shorten(reason);
}

void silence_hdf5() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::size_t bytes_of(ElementType type) {
  return type == ElementType::float32 || type == ElementType::int32 ? 4 : 8;
}

std::string_view to_string(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return "float32";
    case ElementType::float64:
      return "float64";
    case ElementType::int32:
      return "int32";
    default:
      return "int64";
  }
}

std::int64_t ArrayBox::count() const {
  std::int64_t cells = 1;
  for (std::size_t axis = 0; axis < begin.size(); ++axis) cells *= end[axis] - begin[axis];
  return cells;
}

hid_t native_type(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return H5T_NATIVE_FLOAT;
    case ElementType::float64:
      return H5T_NATIVE_DOUBLE;
    case ElementType::int32:
      return H5T_NATIVE_INT32;
    case ElementType::int64:
      return H5T_NATIVE_INT64;
  }
  throw Error(ErrorKind::usage, "an ElementType that does not exist");
}

Hdf5Handle select_box(const std::vector<std::int64_t>& extent, const ArrayBox& box) {
  Hdf5Handle space = simple_space(to_hsize(extent));
  if (box.count() == 0) {
    check_hdf5(H5Sselect_none(space.id()), "H5Sselect_none");
    return space;
  }
  if (extent.empty()) return space;
  const auto start = to_hsize(box.begin);
  auto count = to_hsize(box.end);
  for (std::size_t axis = 0; axis < count.size(); ++axis) count[axis] -= start[axis];
  check_hdf5(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
             "H5Sselect_hyperslab");
  return space;
}

Hdf5Handle memory_space(const ArrayBox& box) {
  Hdf5Handle space = simple_space({static_cast<hsize_t>(box.count())});
  if (box.count() == 0) check_hdf5(H5Sselect_none(space.id()), "H5Sselect_none");
  return space;
}

Hdf5Handle create_dataset(hid_t file, const ArrayBlock& array) {
  const Hdf5Handle space = simple_space(to_hsize(array.extent));
  const Hdf5Handle options(check_hdf5(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"), H5Pclose);
  check_hdf5(H5Pset_alloc_time(options.id(), H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time");
  // Every element will be written, so none is filled before.
  check_hdf5(H5Pset_fill_time(options.id(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
  // Without times, equal results are equal files.
  check_hdf5(H5Pset_obj_track_times(options.id(), false), "H5Pset_obj_track_times");
  const hid_t dataset = H5Dcreate2(file, array.name.c_str(), native_type(array.type), space.id(),
                                   with_groups().id(), options.id(), H5P_DEFAULT);
  return {check_hdf5(dataset, "H5Dcreate2 of " + array.name), H5Dclose};
}

void write_attribute(hid_t file, const std::string& path, const Attribute& value) {
  Hdf5Handle type;
  const void* data = nullptr;
  if (const auto* text = std::get_if<std::string>(&value)) {
    type = text_type(text->size());
    data = text->c_str();
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    type = copy_type(H5T_NATIVE_INT64);
    data = whole;
  } else {
    type = copy_type(H5T_NATIVE_DOUBLE);
    data = &std::get<double>(value);
  }
  const Hdf5Handle scalar(check_hdf5(H5Screate(H5S_SCALAR), "H5Screate"), H5Sclose);
  write_typed_attribute(file, path, type.id(), scalar.id(), data);
}

void write_attribute(hid_t file, const std::string& path, const ListAttributes::mapped_type& values) {
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&values)) {
    const Hdf5Handle space = simple_space({numbers->size()});
    write_typed_attribute(file, path, H5T_NATIVE_INT64, space.id(), numbers->data());
    return;
  }
  const auto& texts = std::get<std::vector<std::string>>(values);
  // Not of variable length: those lie apart, and HDF5 crashes on damaged ones.
  std::size_t length = 0;
  for (const std::string& text : texts) length = std::max(length, text.size());
  std::string all;
  for (const std::string& text : texts) all += text + std::string(length + 1 - text.size(), '\0');
  const Hdf5Handle type = text_type(length);
  const Hdf5Handle space = simple_space({texts.size()});
  write_typed_attribute(file, path, type.id(), space.id(), all.data());
}

void write_box(hid_t dataset, const ArrayBlock& array, const ArrayBox& box, const void* data) {
  if (box.count() == 0) return;
  const Hdf5Handle from = memory_space(box);
  const Hdf5Handle to = select_box(array.extent, box);
  check_hdf5(H5Dwrite(dataset, native_type(array.type), from.id(), to.id(), H5P_DEFAULT, data),
             "H5Dwrite of " + array.name);
}

Hdf5Handle serial_access() {
  return {check_hdf5(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate"), H5Pclose};
}

}  // namespace selvage::app
