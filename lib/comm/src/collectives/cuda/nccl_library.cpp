#include "nccl_library.hpp"

#include "collectives/algorithms/device_allreduce.hpp"
#include "runtime/context_state.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace selvage::detail {
namespace {

// The few declarations needed of NCCL 2's stable C interface.
using Result = int;  // 0 is success
using Communicator = void*;
struct UniqueId {
  std::array<char, 128> bytes;
};

class Nccl {
 public:
  static const Nccl& library() {
    static const Nccl loaded;
    return loaded;
  }
  /// Why it isn't there; empty where it is.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  void check(Result result, const char* call) const {
    if (result == 0) return;
    throw Error(ErrorKind::cuda, fmt::format("{} failed: {}", call, error_string(result)), result);
  }

  Result (*get_unique_id)(UniqueId*) = nullptr;
  Result (*init_rank)(Communicator*, int, UniqueId, int) = nullptr;
  Result (*destroy)(Communicator) = nullptr;
  Result (*all_reduce)(const void*, void*, std::size_t, int, int, Communicator, cudaStream_t) = nullptr;
  const char* (*error_string)(Result) = nullptr;

 private:
  Nccl() {
    void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* const text = dlerror();
      refusal_ = fmt::format("no NCCL: {}", text != nullptr ? text : "the loader gives no reason");
      return;
    }
    load(library, get_unique_id, "ncclGetUniqueId");
    load(library, init_rank, "ncclCommInitRank");
    load(library, destroy, "ncclCommDestroy");
    load(library, all_reduce, "ncclAllReduce");
    load(library, error_string, "ncclGetErrorString");
  }
  template <class Function>
  void load(void* library, Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    if (function == nullptr) refusal_ = fmt::format("this NCCL has no {}", name);
  }

  std::string refusal_;
};

int number_of(ElementType type) {
  switch (type) {
    case ElementType::fp64:
      return 8;
    case ElementType::int32:
      return 2;
    case ElementType::uint32:
      return 3;
    case ElementType::int64:
      return 4;
    case ElementType::uint64:
      return 5;
    default:
      return 7;  // fp32
  }
}
int number_of(ReduceOperation operation) {
  switch (operation) {
    case ReduceOperation::product:
      return 1;
    case ReduceOperation::max:
      return 2;
    case ReduceOperation::min:
      return 3;
    default:
      return 0;  // sum
  }
}

class LoadedNcclGroup final : public NcclGroup {
 public:
  LoadedNcclGroup(const UniqueId& id, int size, int place) {
    nccl_.check(nccl_.init_rank(&made_, size, id, place), "ncclCommInitRank");
  }
  ~LoadedNcclGroup() override { static_cast<void>(nccl_.destroy(made_)); }

  void allreduce(std::byte* values, std::int64_t count, ElementType type, ReduceOperation operation,
                 cudaStream_t stream) override {
    nccl_.check(nccl_.all_reduce(values, values, static_cast<std::size_t>(count), number_of(type),
                                 number_of(operation), made_, stream),
                "ncclAllReduce");
  }

 private:
  const Nccl& nccl_ = Nccl::library();
  Communicator made_ = nullptr;
};

}  // namespace

std::string nccl_refusal() {
  return Nccl::library().refusal();
}

NcclGroup& nccl_group(ContextState& context, const std::vector<int>& group) {
  const auto make = [&]() -> std::shared_ptr<NcclGroup> {
    constexpr const char* purpose = "the construction of a collective";
    const Nccl& nccl = Nccl::library();
    UniqueId id{};
    context.all_or_none(purpose, [&] {
      if (!nccl.refusal().empty()) throw Error(ErrorKind::unsupported, nccl.refusal());
      if (group.front() == context.rank()) nccl.check(nccl.get_unique_id(&id), "ncclGetUniqueId");
    });
    id.bytes = context.gather(id.bytes, purpose).at(static_cast<std::size_t>(group.front()));
    std::shared_ptr<NcclGroup> made;
    context.all_or_none(purpose, [&] {
      const auto place = static_cast<int>(std::ranges::find(group, context.rank()) - group.begin());
      made = std::make_shared<LoadedNcclGroup>(id, static_cast<int>(group.size()), place);
    });
    return made;
  };
  return context.kept<NcclGroup>(fmt::format("NCCL of ranks {}", fmt::join(group, " ")), make);
}

}  // namespace selvage::detail
