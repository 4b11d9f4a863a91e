#include "handles.hpp"

#include <selvage/comm/detail/operations.hpp>
#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace selvage::detail {

/// A HaloExchange of fields that are known by pointers and strides only.
struct RawHalo {
  template <class Space, int D>
  static HaloExchange make(const Space& space, const Grid<D>& grid, const HaloOptions<D>& options,
                           std::vector<Field> fields) {
    return HaloExchange(
        HaloExchange::make_plan(KokkosExecutor<Space>(space), grid, options, std::move(fields)));
  }
  template <class Space>
  static void rebind(HaloExchange& halo, const Space& space, std::vector<Field> fields) {
    halo.rebind_fields(KokkosExecutor<Space>(space), std::move(fields));
  }
  /// \param fields  a bit for each, by its number
  /// \return what finish() takes
  template <class Space>
  static std::uint64_t start(HaloExchange& halo, const Space& space, std::uint64_t fields) {
    KokkosExecutor<Space> executor(space);
    return halo.start_fields(executor, fields);
  }
  template <class Space>
  static void finish(HaloExchange& halo, const Space& space, std::uint64_t started) {
    KokkosExecutor<Space> executor(space);
    halo.finish_fields(executor, started);
  }
  template <class Space>
  static void exchange(HaloExchange& halo, const Space& space, std::uint64_t fields) {
    KokkosExecutor<Space> executor(space);
    halo.exchange_fields(executor, fields);
  }
  template <class T, class Space, class Operation>
  static void reduce(HaloExchange& halo, const Space& space, const Operation& operation,
                     std::uint64_t field) {
    KokkosExecutor<Space> executor(space);
    KokkosCombiner<Space, T, Operation> combiner(space, operation);
    halo.reduce_field(executor, combiner, field);
  }
};

}  // namespace selvage::detail

using AnyGrid = std::variant<selvage::Grid<1>, selvage::Grid<2>, selvage::Grid<3>>;

struct selvage_grid {
  selvage::c::Place place;
  AnyGrid grid;
};

struct selvage_halo {
  selvage::c::Place place;
  int axes;                                ///< of the grid
  std::vector<std::size_t> element_bytes;  ///< by field
  selvage::HaloExchange halo;
  std::optional<std::uint64_t> started;
  std::string explanation;
};

namespace selvage::c {
namespace {

template <int D>
GridOptions<D> options_of(const selvage_grid_options& options) {
  GridOptions<D> made;
  for (int axis = 0; axis < D; ++axis) {
    made.cells[axis] = options.cells[axis];
    made.periodic[axis] = options.periodic[axis] != 0;
    made.ranks[axis] = options.ranks[axis];
  }
  made.reorder = options.keep_order == 0;
  return made;
}

template <int D>
Box<D> box_of(const std::int64_t* begin, const std::int64_t* end) {
  Box<D> box;
  std::copy_n(begin, D, box.begin.begin());
  std::copy_n(end, D, box.end.begin());
  return box;
}

/// make(std::integral_constant<int, D>) for the number of axes.
/// \param check  throws what is wrong on this rank
template <class Make>
AnyGrid grid_of(const Context& context, const selvage_grid_options* options,
                const std::function<void()>& check, const Make& make) {
  int axes = 0;
  context.agree("making a grid", [&] {
    axes = required(options, "the grid's options").axes;
    if (axes < 1 || axes > 3)
      throw Error(ErrorKind::usage, "a grid of " + std::to_string(axes) + " axes; there are grids of 1 to 3");
    check();
  });
  switch (axes) {
    case 1:
      return make(std::integral_constant<int, 1>());
    case 2:
      return make(std::integral_constant<int, 2>());
    default:
      return make(std::integral_constant<int, 3>());
  }
}

template <int D>
HaloOptions<D> options_of(const selvage_halo_options& options) {
  HaloOptions<D> made;
  for (int axis = 0; axis < D; ++axis) made.width[axis] = {options.width[axis][0], options.width[axis][1]};
  made.corners = options.corners != 0;
  made.ghost_reuse = options.alternating != 0 ? GhostReuse::alternating : GhostReuse::credit;
  made.transport = optional_of(options.transport, [](const char* text) { return parse_transport(text); });
  made.initiation = optional_of(options.initiation, [](const char* text) { return parse_initiation(text); });
  return made;
}

detail::Field field_of(const selvage_field& field, int number, int axes, bool on_device) {
  const std::string label = "field " + std::to_string(number);
  if (field.data == nullptr) throw Error(ErrorKind::usage, label + " has no data");
  if (field.element_bytes == 0) throw Error(ErrorKind::usage, label + " has elements of 0 bytes");
  if (field.axes != axes && field.axes != axes + 1)
    throw Error(ErrorKind::usage, label + " has " + std::to_string(field.axes) + " axes; the grid has " +
                                      std::to_string(axes) + ", and components may be one more");
  detail::Field made;
  made.label = label;
  made.data = static_cast<std::byte*>(field.data);
  made.rank = field.axes;
  made.element_bytes = static_cast<std::int64_t>(field.element_bytes);
  made.memory = on_device ? detail::MemoryKind::device : detail::MemoryKind::host;
  for (int axis = 0; axis < field.axes; ++axis) {
    if (field.strides[axis] < 0)
      throw Error(ErrorKind::usage, label + " has a stride of " + std::to_string(field.strides[axis]) +
                                        " on axis " + std::to_string(axis));
    made.extents[axis] = field.extents[axis];
    made.strides[axis] = field.strides[axis] * made.element_bytes;
  }
  return made;
}

std::vector<detail::Field> fields_of(const selvage_field* fields, int count, int axes, const Place& place) {
  if (count < 1) throw Error(ErrorKind::usage, "a halo of " + std::to_string(count) + " fields");
  const selvage_field* const first = &required(fields, "the list of fields");
  std::vector<detail::Field> made;
  for (int f = 0; f < count; ++f) made.push_back(field_of(first[f], f, axes, place.device.has_value()));
  return made;
}

std::vector<std::size_t> element_bytes_of(const std::vector<detail::Field>& fields) {
  std::vector<std::size_t> sizes;
  for (const detail::Field& field : fields) sizes.push_back(static_cast<std::size_t>(field.element_bytes));
  return sizes;
}

void create_halo(const selvage_grid& grid, const selvage_halo_options* options, int count,
                 const selvage_field* fields, selvage_halo** halo) {
  std::unique_ptr<selvage_halo> made;
  std::visit(
      [&]<int D>(const Grid<D>& cells) {
        std::vector<detail::Field> raw;
        HaloOptions<D> wanted;
        // What is wrong on one rank alone, all ranks are told.
        grid.place.context.agree("making a halo", [&] {
          required(halo, "where to put the halo");
          wanted = options_of<D>(required(options, "the halo's options"));
          raw = fields_of(fields, count, D, grid.place);
        });
        std::vector<std::size_t> element_bytes = element_bytes_of(raw);
        grid.place.on_space([&](const auto& space) {
          made.reset(new selvage_halo{grid.place,
                                      D,
                                      std::move(element_bytes),
                                      detail::RawHalo::make(space, cells, wanted, std::move(raw)),
                                      std::nullopt,
                                      {}});
        });
      },
      grid.grid);
  *halo = made.release();
}

std::uint64_t bit_of(const selvage_halo& halo, int field) {
  const auto count = static_cast<int>(halo.element_bytes.size());
  if (field < 0 || field >= count)
    throw Error(ErrorKind::usage,
                "field " + std::to_string(field) + " of a halo of " + std::to_string(count) + " fields");
  return std::uint64_t{1} << field;
}

std::uint64_t bits_of(const selvage_halo& halo, int count, const int* fields) {
  if (count < 0) throw Error(ErrorKind::usage, std::to_string(count) + " fields to exchange");
  std::uint64_t bits = 0;
  if (count == 0) {
    for (int f = 0; f < static_cast<int>(halo.element_bytes.size()); ++f) bits |= bit_of(halo, f);
  }
  for (int i = 0; i < count; ++i) bits |= bit_of(halo, (&required(fields, "the list of fields"))[i]);
  return bits;
}

void require_idle(const selvage_halo& halo) {
  if (halo.started) throw Error(ErrorKind::usage, "an exchange of this halo was started: finish it first");
}

}  // namespace
}  // namespace selvage::c

using namespace selvage::c;
using selvage::Error;
using selvage::ErrorKind;
using selvage::Grid;

selvage_status selvage_grid_create(const selvage_context* context, const selvage_grid_options* options,
                                   selvage_grid** grid) {
  return guarded([&] {
    const Place& place = required(context, "the context").place;
    const auto check = [&] { required(grid, "where to put the grid"); };
    *grid = new selvage_grid{place, grid_of(place.context, options, check, [&](auto axes) {
                               return Grid<axes()>(place.context, options_of<axes()>(*options));
                             })};
  });
}
selvage_status selvage_grid_create_of_boxes(const selvage_context* context,
                                            const selvage_grid_options* options, const int64_t* begin,
                                            const int64_t* end, selvage_grid** grid) {
  return guarded([&] {
    const Place& place = required(context, "the context").place;
    const auto check = [&] {
      required(grid, "where to put the grid");
      required(begin, "the box's begin");
      required(end, "the box's end");
    };
    *grid = new selvage_grid{place, grid_of(place.context, options, check, [&](auto axes) {
                               return Grid<axes()>(place.context, options_of<axes()>(*options),
                                                   box_of<axes()>(begin, end));
                             })};
  });
}
void selvage_grid_destroy(selvage_grid* grid) {
  delete grid;
}

selvage_status selvage_grid_box(const selvage_grid* grid, int rank, int64_t* begin, int64_t* end) {
  return guarded([&] {
    std::visit(
        [&](const auto& cells) {
          if (rank < 0 || rank >= cells.size())
            throw Error(ErrorKind::usage,
                        "the box of rank " + std::to_string(rank) + " of " + std::to_string(cells.size()));
          const auto box = cells.box_of(rank);
          std::int64_t& first = required(begin, "where to put the box's begin");
          std::int64_t& last = required(end, "where to put the box's end");
          std::ranges::copy(box.begin, &first);
          std::ranges::copy(box.end, &last);
        },
        required(grid, "the grid").grid);
  });
}
selvage_status selvage_grid_neighbour(const selvage_grid* grid, const int* direction, int* rank) {
  return guarded([&] {
    std::visit(
        [&]<int D>(const Grid<D>& cells) {
          std::array<int, D> steps;
          std::copy_n(&required(direction, "the direction"), D, steps.begin());
          required(rank, "where to put the rank") = cells.neighbour(steps);
        },
        required(grid, "the grid").grid);
  });
}

selvage_status selvage_halo_create(const selvage_grid* grid, const selvage_halo_options* options, int count,
                                   const selvage_field* fields, selvage_halo** halo) {
  return guarded([&] { create_halo(required(grid, "the grid"), options, count, fields, halo); });
}
void selvage_halo_destroy(selvage_halo* halo) {
  delete halo;
}

selvage_status selvage_halo_rebind(selvage_halo* halo, int count, const selvage_field* fields) {
  return guarded([&] {
    selvage_halo& own = required(halo, "the halo");
    std::vector<selvage::detail::Field> raw;
    // What is wrong on one rank alone, all ranks are told.
    own.place.context.agree("rebinding a halo", [&] {
      require_idle(own);
      raw = fields_of(fields, count, own.axes, own.place);
    });
    std::vector<std::size_t> element_bytes = element_bytes_of(raw);
    own.place.on_space(
        [&](const auto& space) { selvage::detail::RawHalo::rebind(own.halo, space, std::move(raw)); });
    own.element_bytes = std::move(element_bytes);
  });
}

selvage_status selvage_halo_exchange(selvage_halo* halo, int count, const int* fields) {
  return guarded([&] {
    selvage_halo& own = required(halo, "the halo");
    require_idle(own);
    const std::uint64_t bits = bits_of(own, count, fields);
    own.place.on_space([&](const auto& space) { selvage::detail::RawHalo::exchange(own.halo, space, bits); });
  });
}
selvage_status selvage_halo_start(selvage_halo* halo, int count, const int* fields) {
  return guarded([&] {
    selvage_halo& own = required(halo, "the halo");
    require_idle(own);
    const std::uint64_t bits = bits_of(own, count, fields);
    own.place.on_space(
        [&](const auto& space) { own.started = selvage::detail::RawHalo::start(own.halo, space, bits); });
  });
}
selvage_status selvage_halo_finish(selvage_halo* halo) {
  return guarded([&] {
    selvage_halo& own = required(halo, "the halo");
    if (!own.started) throw Error(ErrorKind::usage, "no exchange of this halo was started");
    const std::uint64_t started = *std::exchange(own.started, std::nullopt);
    own.place.on_space(
        [&](const auto& space) { selvage::detail::RawHalo::finish(own.halo, space, started); });
  });
}
selvage_status selvage_halo_reduce(selvage_halo* halo, int field, selvage_type type,
                                   selvage_operation operation) {
  return guarded([&] {
    selvage_halo& own = required(halo, "the halo");
    require_idle(own);
    const std::uint64_t bit = bit_of(own, field);
    with_number(type, [&]<class T>(T) {
      // Components may be packed into larger elements, so the sizes need not be one.
      if (own.element_bytes[static_cast<std::size_t>(field)] != sizeof(T))
        throw Error(ErrorKind::usage, "field " + std::to_string(field) + " has elements of " +
                                          std::to_string(own.element_bytes[static_cast<std::size_t>(field)]) +
                                          " bytes, and the type has " + std::to_string(sizeof(T)));
      own.place.on_space([&](const auto& space) {
        selvage::detail::with_operation<T>(operation_of(operation), [&](const auto& combine) {
          selvage::detail::RawHalo::reduce<T>(own.halo, space, combine, bit);
        });
      });
    });
  });
}
selvage_status selvage_halo_check(const selvage_halo* halo) {
  return guarded([&] { required(halo, "the halo").halo.check(); });
}
const char* selvage_halo_explain(selvage_halo* halo) {
  const selvage_status status =
      guarded([&] { halo->explanation = required(halo, "the halo").halo.explain(); });
  return status == SELVAGE_SUCCESS ? halo->explanation.c_str() : "";
}
