#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace selvage::detail {

class ContextState;

/// Zeroed host memory that the ranks of this host can map, until its last owner goes, who may outlive the Context. It begins at a cache
/// line, each time at another one of a page: a kernel that writes one array and reads another at the same places of their pages waits for
/// its own stores.
/// \throws Error{io} when the system gives none
[[nodiscard]] std::shared_ptr<void> allocate_view_block(ContextState& context, std::size_t bytes);

/// A managed View on `block`, like one that Kokkos allocated: labelled, and the last of its copies and sub-Views lets the block go.
///
/// Kokkos gives a View on the caller's memory no owner. So this one joins those who share an allocation of Kokkos', which holds
/// the block's owner and is destroyed with the last of them. That goes past the public interface, and compiles only while
/// View::impl_track() tells where a View keeps its share (tried: 4.5.01 to 4.7.00, with the legacy View and the newer one).
template <class View, class... Extents>
[[nodiscard]] View managed_view(const std::string& label, std::shared_ptr<void> block, Extents... extents) {
  using Owner = Kokkos::View<std::shared_ptr<void>*, Kokkos::HostSpace>;
  using Share = Kokkos::Impl::SharedAllocationTracker;
  View view(static_cast<typename View::pointer_type>(block.get()), extents...);
  static_assert(std::is_same_v<decltype(view.impl_track()), const Share&>,
                "this version of Kokkos keeps the owners of a View elsewhere");
  const Owner owner(Kokkos::view_alloc(label, Kokkos::SequentialHostInit), 1);
  owner(0) = std::move(block);
  const_cast<Share&>(view.impl_track()) = owner.impl_track();
  return view;
}

}  // namespace selvage::detail
