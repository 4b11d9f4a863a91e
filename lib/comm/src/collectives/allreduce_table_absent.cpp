#include "allreduce_table.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::detail {

AllreduceTable AllreduceTable::parse(const std::string&, const std::string& path) {
  throw Error(ErrorKind::unsupported,
              fmt::format("allreduce table {} can't be read: built without nlohmann-json", path));
}

std::string AllreduceTable::to_text() const {
  throw Error(ErrorKind::unsupported, "an allreduce table can't be written: built without nlohmann-json");
}

}  // namespace selvage::detail
