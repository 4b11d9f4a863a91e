#include "list_path.hpp"

#include <fmt/format.h>

namespace selvage::detail {

std::string_view to_string(ListOperation operation) {
  switch (operation) {
    case ListOperation::rebuild:
      return "rebuild";
    case ListOperation::gather:
      return "gather";
    case ListOperation::scatter_add:
      return "scatter_add";
    case ListOperation::migrate:
      return "migration";
    case ListOperation::failure:
      return "failure";
  }
  return "unknown operation";
}

ListHeader ListStep::header(const ListLink& link) const {
  ListHeader header{.operation = operation, .entries = sent(link).count};
  if (!moves_particles()) return header;
  header.particle_bytes = mover->particle_bytes();
  header.signature = mover->signature();
  return header;
}

void ListStep::require_same(const ListLink& link, const ListHeader& theirs, const ListFailure& reason) const {
  require_same_header(link.rank, epoch, header(link), theirs, received(link).count, reason);
}

void require_same_header(int rank, std::uint64_t epoch, const ListHeader& mine, const ListHeader& theirs,
                         std::int64_t announced, const ListFailure& reason) {
  if (theirs.operation == ListOperation::failure)
    throw Error(static_cast<ErrorKind>(reason.kind), reason.text.data());
  if (theirs.operation != mine.operation) {
    throw Error(
        ErrorKind::usage,
        fmt::format("ranks call one list differently: in epoch {} rank {} is in {}, its neighbour in {}",
                    epoch, rank, to_string(theirs.operation), to_string(mine.operation)));
  }
  if (mine.operation == ListOperation::rebuild) return;
  if (theirs.particle_bytes != mine.particle_bytes || theirs.signature != mine.signature) {
    throw Error(
        ErrorKind::usage,
        fmt::format("ranks pass different fields to one {}: in epoch {} particles of {} bytes on "
                    "rank {}, of {} bytes, or with other components, on its neighbour",
                    to_string(mine.operation), epoch, theirs.particle_bytes, rank, mine.particle_bytes));
  }
  if (theirs.entries != announced) {
    throw Error(ErrorKind::usage, fmt::format("rank {} sends {} particles in a {} where {} were announced",
                                              rank, theirs.entries, to_string(mine.operation), announced));
  }
}

}  // namespace selvage::detail
