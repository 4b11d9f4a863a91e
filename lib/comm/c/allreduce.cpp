#include "handles.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/half.hpp>

#include <Kokkos_Complex.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

struct selvage_allreduce {
  selvage::c::Place place;
  selvage::Allreduce allreduce;
  std::optional<selvage::Allreduce::Pending> pending;
  std::string explanation;
};

namespace selvage::c {
namespace {

/// Calls function(T{}) with the type of the elements. \throws Error{usage} for one that there is not
template <class Function>
void with_type(selvage_type type, const Function& function) {
  switch (type) {
    case SELVAGE_FLOAT:
    case SELVAGE_DOUBLE:
    case SELVAGE_INT32:
    case SELVAGE_INT64:
      return with_number(type, function);
    case SELVAGE_INT8:
      return function(std::int8_t{});
    case SELVAGE_INT16:
      return function(std::int16_t{});
    case SELVAGE_UINT8:
      return function(std::uint8_t{});
    case SELVAGE_UINT16:
      return function(std::uint16_t{});
    case SELVAGE_UINT32:
      return function(std::uint32_t{});
    case SELVAGE_UINT64:
      return function(std::uint64_t{});
    case SELVAGE_HALF:
      return function(Half{});
    case SELVAGE_BFLOAT16:
      return function(Bfloat16{});
    case SELVAGE_COMPLEX_FLOAT:
      return function(Kokkos::complex<float>{});
    case SELVAGE_COMPLEX_DOUBLE:
      return function(Kokkos::complex<double>{});
  }
  throw Error(ErrorKind::usage, "there is no selvage_type " + std::to_string(static_cast<int>(type)));
}

AllreduceOptions options_of(selvage_operation operation, const selvage_allreduce_options* options) {
  AllreduceOptions made{.operation = operation_of(operation)};
  if (options == nullptr) return made;
  made.algorithm =
      optional_of(options->algorithm, [](const char* text) { return parse_allreduce_algorithm(text); });
  made.allow_reordering = options->allow_reordering != 0;
  made.max_blocks = options->max_blocks;
  return made;
}

}  // namespace
}  // namespace selvage::c

using namespace selvage::c;
using selvage::Allreduce;
using selvage::AllreduceOptions;
using selvage::Error;
using selvage::ErrorKind;

selvage_status selvage_allreduce_create(const selvage_context* context, void* data, int64_t count,
                                        selvage_type type, selvage_operation operation,
                                        const selvage_allreduce_options* options,
                                        selvage_allreduce** allreduce) {
  return guarded([&] {
    const Place& place = required(context, "the context").place;
    AllreduceOptions wanted;
    // What is wrong on one rank alone, all ranks are told.
    place.context.agree("making an allreduce", [&] {
      required(allreduce, "where to put the allreduce");
      if (count < 0) throw Error(ErrorKind::usage, std::to_string(count) + " elements to reduce");
      if (count > 0) required(static_cast<std::byte*>(data), "the elements' data");
      with_type(type, [](auto /*element*/) {});
      wanted = options_of(operation, options);
    });
    with_type(type, [&]<class T>(T) {
      place.on_space([&]<class Space>(const Space& space) {
        using View = Kokkos::View<T*, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
        const View elements(static_cast<T*>(data), static_cast<std::size_t>(count));
        *allreduce =
            new selvage_allreduce{place, Allreduce(space, place.context, elements, wanted), std::nullopt, {}};
      });
    });
  });
}
void selvage_allreduce_destroy(selvage_allreduce* allreduce) {
  delete allreduce;
}

selvage_status selvage_allreduce_run(selvage_allreduce* allreduce) {
  const selvage_status started = selvage_allreduce_start(allreduce);
  return started == SELVAGE_SUCCESS ? selvage_allreduce_finish(allreduce) : started;
}
selvage_status selvage_allreduce_start(selvage_allreduce* allreduce) {
  return guarded([&] {
    selvage_allreduce& own = required(allreduce, "the allreduce");
    if (own.pending) throw Error(ErrorKind::usage, "a run of this allreduce was started: finish it first");
    own.place.on_space([&](const auto& space) { own.pending = own.allreduce.start(space); });
  });
}
selvage_status selvage_allreduce_finish(selvage_allreduce* allreduce) {
  return guarded([&] {
    selvage_allreduce& own = required(allreduce, "the allreduce");
    if (!own.pending) throw Error(ErrorKind::usage, "no run of this allreduce was started");
    auto pending = std::move(*own.pending);
    own.pending.reset();
    own.place.on_space([&](const auto& space) { own.allreduce.finish(space, std::move(pending)); });
  });
}
selvage_status selvage_allreduce_check(const selvage_allreduce* allreduce) {
  return guarded([&] { required(allreduce, "the allreduce").allreduce.check(); });
}
const char* selvage_allreduce_explain(selvage_allreduce* allreduce) {
  const selvage_status status =
      guarded([&] { allreduce->explanation = required(allreduce, "the allreduce").allreduce.explain(); });
  return status == SELVAGE_SUCCESS ? allreduce->explanation.c_str() : "";
}
