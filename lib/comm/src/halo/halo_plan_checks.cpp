// What a HaloPlan requires of its arguments, alone and against other ranks'.
#include "halo_plan.hpp"

#include <fmt/format.h>

namespace selvage::detail {
namespace {

/// One argument of a HaloExchange as a number that ranks can compare.
struct Argument {
  std::string_view name;
  int value;
  std::string (*text)(int);
};

std::string number_text(int value) {
  return std::to_string(value);
}
template <class Choice>
std::string choice_text(int value) {
  return value < 0 ? "none forced" : std::string(to_string(static_cast<Choice>(value)));
}
int choice_value(const auto& choice) {
  return choice ? static_cast<int>(*choice) : -1;
}

}  // namespace

std::string view_name(std::size_t index, std::string_view label) {
  return label.empty() ? fmt::format("View {}", index) : fmt::format("View {} (\"{}\")", index, label);
}

std::int64_t HaloPlan::components_of(const Field& field) const {
  const int axes = neighbourhood_.shape.axes;
  return field.rank > axes ? field.extents[axes] : 1;
}

void HaloPlan::require_same_everywhere(const HaloChoices& choices) {
  std::vector<Argument> arguments{{"number of Views", static_cast<int>(fields_.size()), number_text},
                                  {"number of axes", neighbourhood_.shape.axes, number_text},
                                  {"option corners", choices.corners, number_text},
                                  {"option ghost_reuse", static_cast<int>(choices.ghost_reuse), number_text},
                                  {"transport", choice_value(transport_.choice), choice_text<Transport>},
                                  {"initiation", choice_value(initiation_.choice), choice_text<Initiation>}};
  for (const Side& side : neighbourhood_.shape.width) {
    arguments.push_back({"halo width", side.low, number_text});
    arguments.push_back({"halo width", side.high, number_text});
  }
  std::vector<int> values;
  for (const Argument& argument : arguments) values.push_back(argument.value);
  const auto ranges = context_->extremes(values, halo_construction);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& range = ranges[i];
    if (range.smallest == range.largest) continue;
    throw Error(ErrorKind::usage,
                fmt::format("ranks disagree on the {} of one HaloExchange: {} on rank {}, {} on rank {}",
                            arguments[i].name, arguments[i].text(range.smallest), range.smallest_rank,
                            arguments[i].text(range.largest), range.largest_rank));
  }
}

void HaloPlan::require_valid_arguments(const Executor& executor) const {
  context_->require_own_device(executor);
  for (const Field& field : fields_) context_->require_own_device(field);
  if (fields_.size() > max_fields) {
    throw Error(ErrorKind::usage,
                fmt::format("{} Views in one HaloExchange: at most {}", fields_.size(), max_fields));
  }
  for (const Side& side : neighbourhood_.shape.width) {
    if (side.low < 0 || side.high < 0) {
      throw Error(ErrorKind::usage,
                  fmt::format("a halo width of {} and {} cells is negative", side.low, side.high));
    }
  }
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].data == nullptr) {
      throw Error(ErrorKind::usage, fmt::format("{} on rank {} has no memory", view_name(i, fields_[i].label),
                                                context_->rank()));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (fields_[i].data != fields_[j].data) continue;
      throw Error(ErrorKind::usage,
                  fmt::format("Views {} and {} of one HaloExchange are the same memory", j, i));
    }
  }
}

void HaloPlan::require_fields_fit() const {
  const Shape& shape = neighbourhood_.shape;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const Field& field = fields_[f];
    for (int axis = 0; axis < shape.axes; ++axis) {
      const Side& side = shape.width[axis];
      const std::int64_t wanted = shape.extents[axis] + side.low + side.high;
      if (field.extents[axis] == wanted) continue;
      throw Error(ErrorKind::usage,
                  fmt::format("{} on rank {} has extent {} along axis {}; its box of {} cells with ghosts of "
                              "{} and {} needs {}",
                              view_name(f, field.label), context_->rank(), field.extents[axis], axis,
                              shape.extents[axis], side.low, side.high, wanted));
    }
  }
}

void HaloPlan::require_boxes_hold_halos() const {
  const Shape& shape = neighbourhood_.shape;
  for (const Neighbour& neighbour : neighbourhood_.neighbours) {
    for (const Boundary& boundary : neighbour.boundaries) {
      for (int axis = 0; axis < shape.axes; ++axis) {
        if (boundary.owned.extents[axis] <= shape.extents[axis]) continue;
        throw Error(ErrorKind::usage,
                    fmt::format("a halo of {} cells is wider than the box of rank {}, {} cells along axis {}",
                                boundary.owned.extents[axis], context_->rank(), shape.extents[axis], axis));
      }
    }
  }
}

void HaloPlan::require_matching(const PeerPlan& peer) const {
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const FieldCard& theirs = peer.cards[f];
    const std::int64_t components = components_of(fields_[f]);
    if (theirs.element_bytes == fields_[f].element_bytes && theirs.components == components) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format("View {} differs between ranks: {} x {} bytes per cell on rank {}, {} x {} on rank {}", f,
                    components, fields_[f].element_bytes, context_->rank(), theirs.components,
                    theirs.element_bytes, peer.neighbour.rank));
  }
}

}  // namespace selvage::detail
