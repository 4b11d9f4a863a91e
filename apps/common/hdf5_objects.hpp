#pragma once

#include "common/hdf5_file.hpp"
#include "common/hdf5_handle.hpp"

#include <span>
#include <string>

namespace selvage::app {

[[nodiscard]] hid_t native_type(ElementType type);

/// The box as a selection of the whole array's space. \throws Error{io}
[[nodiscard]] Hdf5Handle select_box(const std::vector<std::int64_t>& extent, const ArrayBox& box);

/// The space of a contiguous buffer that holds just the box. \throws Error{io}
[[nodiscard]] Hdf5Handle memory_space(const ArrayBox& box);

/// An empty dataset for the array. \throws Error{io}
[[nodiscard]] Hdf5Handle create_dataset(hid_t file, const ArrayBlock& array);

/// Attributes of a dataset: the sums of its ChecksumBlocks, and the extents of a block.
inline constexpr const char* checksums_name = "selvage_checksums";
inline constexpr const char* checksum_block_name = "selvage_checksum_block";

/// One attribute of the root group, or of the group that its path names. \throws Error{io}
void write_attribute(hid_t file, const std::string& path, const Attribute& value);
void write_attribute(hid_t file, const std::string& path, const ListAttributes::mapped_type& values);

/// Writes one box of the array, by this rank alone. \throws Error{io}
void write_box(hid_t dataset, const ArrayBlock& array, const ArrayBox& box, const void* data);

/// How a file is opened by one rank alone.
[[nodiscard]] Hdf5Handle serial_access();

/// Whether HDF5 was built for MPI. The next two need it; without it they throw Error{unsupported}.
[[nodiscard]] bool hdf5_is_parallel();
/// How a file is opened by all ranks together.
[[nodiscard]] Hdf5Handle parallel_access(MPI_Comm comm);
/// Writes this rank's box while the other ranks write theirs. Collective over the file's ranks.
/// \throws Error{io}
void write_box_together(hid_t dataset, const ArrayBlock& array);

}  // namespace selvage::app
