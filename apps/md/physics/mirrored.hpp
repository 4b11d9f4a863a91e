#pragma once

#include <Kokkos_Core.hpp>

#include <string>
#include <utility>

namespace selvage::md {

/// A value or small array in the memory of `Space` that the host looks at now and then: page-locked memory waits for it there,
/// since a copy to any other passes through the driver's own.
/// \tparam Data  as of a View: int, std::int64_t[2]
template <class Data, class Space>
class Mirrored {
 public:
  using View = Kokkos::View<Data, typename Space::memory_space>;

  explicit Mirrored(const std::string& label)
      : view_(label), image_(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), view_)) {}

  [[nodiscard]] const View& view() const { return view_; }
  /// Waits for what was enqueued.
  [[nodiscard]] auto read(const Space& space) const {
    Kokkos::deep_copy(space, image_, view_);
    space.fence("md: a value copied");
    if constexpr (View::rank() == 0) {
      return image_();
    } else {
      return image_;
    }
  }

 private:
  View view_;
  decltype(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), std::declval<View>())) image_;
};

}  // namespace selvage::md
