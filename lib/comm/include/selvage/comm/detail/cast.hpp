#pragma once

#include <selvage/comm/elements.hpp>
#include <selvage/comm/half.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace selvage::detail {

/// Converts elements between types, on an instance; see Executor.
class Caster {
 public:
  Caster() = default;
  Caster(const Caster&) = delete;
  Caster& operator=(const Caster&) = delete;
  virtual ~Caster() = default;

  /// fp32 to bf16, rounded to nearest even, and back.
  virtual void narrow_elements(std::byte* target, const std::byte* source, std::int64_t count) = 0;
  virtual void widen_elements(std::byte* target, const std::byte* source, std::int64_t count) = 0;
};

struct NarrowElements {
  Bfloat16* target;
  const float* source;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { target[i] = from_float<Bfloat16>(source[i]); }
};
struct WidenElements {
  float* target;
  const Bfloat16* source;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { target[i] = to_float(source[i]); }
};

template <class Space>
class KokkosCaster final : public Caster {
 public:
  explicit KokkosCaster(const Space& space) : space_(space) {}

  void narrow_elements(std::byte* target, const std::byte* source, std::int64_t count) override {
    Kokkos::parallel_for(
        "comm::narrow", Policy(space_, 0, count),
        NarrowElements{reinterpret_cast<Bfloat16*>(target), reinterpret_cast<const float*>(source)});
  }
  void widen_elements(std::byte* target, const std::byte* source, std::int64_t count) override {
    Kokkos::parallel_for(
        "comm::widen", Policy(space_, 0, count),
        WidenElements{reinterpret_cast<float*>(target), reinterpret_cast<const Bfloat16*>(source)});
  }

 private:
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  Space space_;
};

}  // namespace selvage::detail
