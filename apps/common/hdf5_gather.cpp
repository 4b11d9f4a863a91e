#include "common/hdf5_gather.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>

namespace selvage::app {
namespace {

constexpr std::int64_t piece_bytes = std::int64_t{16} << 20;
constexpr int piece_tag = 0x5e21;
constexpr std::size_t most_axes = 3;

/// Cells per index of the slowest axis.
std::int64_t cells_per_row(const ArrayBox& box) {
  const std::int64_t rows = box.end[0] - box.begin[0];
  return rows == 0 ? 0 : box.count() / rows;
}

/// Cuts a box along its slowest axis: each piece is then contiguous in the rank's buffer too.
template <class Visit>
void for_each_piece(const ArrayBox& box, ElementType type, Visit&& visit) {
  if (box.count() == 0) return;
  const std::int64_t row_bytes = cells_per_row(box) * static_cast<std::int64_t>(bytes_of(type));
  const std::int64_t rows = std::max<std::int64_t>(1, piece_bytes / row_bytes);
  ArrayBox piece = box;
  for (std::int64_t row = box.begin[0]; row < box.end[0]; row += rows) {
    piece.begin[0] = row;
    piece.end[0] = std::min(row + rows, box.end[0]);
    visit(piece, static_cast<std::size_t>((row - box.begin[0]) * row_bytes));
  }
}

MPI_Datatype mpi_type(ElementType type) {
  return bytes_of(type) == 4 ? MPI_INT32_T : MPI_INT64_T;
}

std::vector<ArrayBox> gather_boxes(MPI_Comm comm, const ArrayBox& own, int ranks) {
  const std::size_t axes = own.begin.size();
  std::vector<std::int64_t> corners(2 * most_axes);
  std::ranges::copy(own.begin, corners.begin());
  std::ranges::copy(own.end, corners.begin() + most_axes);
  std::vector<std::int64_t> all(corners.size() * static_cast<std::size_t>(ranks));
  const int count = static_cast<int>(corners.size());
  check_mpi(MPI_Gather(corners.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, 0, comm),
            "MPI_Gather of boxes");
  std::vector<ArrayBox> boxes(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(rank * corners.size());
    boxes[rank].begin.assign(first, first + static_cast<std::ptrdiff_t>(axes));
    boxes[rank].end.assign(first + most_axes, first + static_cast<std::ptrdiff_t>(most_axes + axes));
  }
  return boxes;
}

/// Writes on rank 0, remembering the first failure instead of leaving the loop.
class PieceWriter {
 public:
  PieceWriter(const ArrayBlock& array, hid_t dataset) : array_(array), dataset_(dataset) {}

  void write(const ArrayBox& piece, const void* data) {
    if (failure_) return;
    try {
      write_box(dataset_, array_, piece, data);
    } catch (const Error&) {
      failure_ = std::current_exception();
    }
  }
  void raise_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const ArrayBlock& array_;
  hid_t dataset_;
  std::exception_ptr failure_;
};

void receive_and_write(MPI_Comm comm, const ArrayBlock& array, hid_t dataset,
                       const std::vector<ArrayBox>& boxes) {
  PieceWriter writer(array, dataset);
  const auto* own = static_cast<const std::byte*>(array.data.get());
  for_each_piece(array.box, array.type, [&](const ArrayBox& piece, std::size_t offset_bytes) {
    writer.write(piece, own + offset_bytes);
  });
  std::vector<std::byte> buffer;
  for (std::size_t rank = 1; rank < boxes.size(); ++rank) {
    for_each_piece(boxes[rank], array.type, [&](const ArrayBox& piece, std::size_t) {
      buffer.resize(static_cast<std::size_t>(piece.count()) * bytes_of(array.type));
      check_mpi(MPI_Recv(buffer.data(), static_cast<int>(piece.count()), mpi_type(array.type),
                         static_cast<int>(rank), piece_tag, comm, MPI_STATUS_IGNORE),
                "MPI_Recv of a field's piece");
      writer.write(piece, buffer.data());
    });
  }
  writer.raise_failure();
}

}  // namespace

void write_gathered(MPI_Comm comm, const ArrayBlock& array, hid_t dataset) {
  int rank = 0;
  int ranks = 1;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  const auto boxes = gather_boxes(comm, array.box, ranks);
  if (rank == 0) return receive_and_write(comm, array, dataset, boxes);
  const auto* own = static_cast<const std::byte*>(array.data.get());
  for_each_piece(array.box, array.type, [&](const ArrayBox& piece, std::size_t offset_bytes) {
    check_mpi(MPI_Send(own + offset_bytes, static_cast<int>(piece.count()), mpi_type(array.type), 0,
                       piece_tag, comm),
              "MPI_Send of a field's piece");
  });
}

}  // namespace selvage::app
