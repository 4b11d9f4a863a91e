#pragma once

#include <selvage/comm/detail/device_of.hpp>
#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/host_copy.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

namespace selvage::detail {

template <class Space>
inline constexpr bool is_host_space = Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible&&
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

/// The native queue of an execution space instance, for code below the seam; null where there is none.
template <class Space>
void* stream_of(const Space&) {
  return nullptr;
}
#ifdef KOKKOS_ENABLE_CUDA
inline void* stream_of(const Kokkos::Cuda& space) {
  return space.cuda_stream();
}
#endif

/// An instance on such a queue; on hosts the caller's.
template <class Space>
[[nodiscard]] Space instance_of_stream(const Space& space, void* /*stream*/) {
  return space;
}
#ifdef KOKKOS_ENABLE_CUDA
[[nodiscard]] inline Kokkos::Cuda instance_of_stream(const Kokkos::Cuda& /*space*/, void* stream) {
  return Kokkos::Cuda(static_cast<cudaStream_t>(stream));
}
#endif

/// The page-locked host memory that belongs to a device's execution space.
template <class Space>
struct HostPinned {
  using type = Kokkos::HostSpace;
};
#ifdef KOKKOS_ENABLE_CUDA
template <>
struct HostPinned<Kokkos::Cuda> {
  using type = Kokkos::CudaHostPinnedSpace;
};
#endif

/// Below this a box is copied by the calling thread: waking a team of threads costs more than the copy.
inline constexpr std::int64_t parallel_copy_bytes = 256 * 1024;

template <int Bytes>
struct alignas(Bytes) Word {
  unsigned char bytes[Bytes];
};

/// The offset of an element, counted with axis 3 fastest.
KOKKOS_INLINE_FUNCTION std::int64_t element_offset(const std::int64_t* extents, const std::int64_t* strides,
                                                   std::int64_t element) {
  std::int64_t offset = 0;
  for (int axis = 3; axis >= 0; --axis) {
    offset += element % extents[axis] * strides[axis];
    element /= extents[axis];
  }
  return offset;
}

/// What a device kernel needs of a CopyBox, as plain arrays.
struct DeviceBox {
  DeviceBox() = default;
  explicit DeviceBox(const CopyBox& box) : source(box.source), target(box.target) {
    for (int axis = 0; axis < 4; ++axis) {
      extents[axis] = box.extents[axis];
      source_strides[axis] = box.source_strides[axis];
      target_strides[axis] = box.target_strides[axis];
    }
  }
  const std::byte* source;
  std::byte* target;
  std::int64_t extents[4];
  std::int64_t source_strides[4];
  std::int64_t target_strides[4];
};

/// Copies elements of `words` words on a device, one thread per element.
template <int WordBytes>
KOKKOS_INLINE_FUNCTION void copy_element(const DeviceBox& box, std::int64_t element, int words) {
  using Unit = Word<WordBytes>;
  const auto* from =
      reinterpret_cast<const Unit*>(box.source + element_offset(box.extents, box.source_strides, element));
  auto* to = reinterpret_cast<Unit*>(box.target + element_offset(box.extents, box.target_strides, element));
  for (int word = 0; word < words; ++word) to[word] = from[word];
}

template <int WordBytes>
struct CopyElements {
  DeviceBox box;
  int words;
  KOKKOS_FUNCTION void operator()(std::int64_t element) const {
    copy_element<WordBytes>(box, element, words);
  }
};

/// Several boxes as one kernel, because a launch takes longer than most boxes; as many as a kernel's arguments of 4 KB hold.
struct CopyBoxes {
  static constexpr int most = 24;

  void add(const CopyBox& box) {
    boxes[count] = DeviceBox(box);
    word_bytes[count] = detail::word_bytes(box);
    words[count] = static_cast<int>(box.element_bytes) / word_bytes[count];
    ends[count] = elements() + box.elements();
    ++count;
  }
  [[nodiscard]] std::int64_t elements() const { return count == 0 ? 0 : ends[count - 1]; }

  KOKKOS_FUNCTION void operator()(std::int64_t element) const {
    int box = 0;
    while (element >= ends[box]) ++box;
    const std::int64_t first = box == 0 ? 0 : ends[box - 1];
    switch (word_bytes[box]) {
      case 16:
        return copy_element<16>(boxes[box], element - first, words[box]);
      case 8:
        return copy_element<8>(boxes[box], element - first, words[box]);
      case 4:
        return copy_element<4>(boxes[box], element - first, words[box]);
      case 2:
        return copy_element<2>(boxes[box], element - first, words[box]);
      default:
        copy_element<1>(boxes[box], element - first, words[box]);
    }
  }

  DeviceBox boxes[most];
  std::int64_t ends[most];  ///< elements of boxes up to and with each
  int word_bytes[most];
  int words[most];  ///< per element
  int count = 0;
};

/// Executor on one Kokkos execution space instance.
template <class Space>
class KokkosExecutor final : public Executor {
  static_assert(is_supported_space<Space>,
                "selvage runs on Kokkos::Serial, OpenMP, Threads and Cuda: pass an instance of one of these");

 public:
  explicit KokkosExecutor(const Space& space) : space_(space) {}

  void copy(std::span<const CopyBox> boxes) override {
    if constexpr (is_host_space<Space>) {
      for (const CopyBox& box : boxes) copy_on_host(box);
    } else if (boxes.size() == 1) {
      copy_on_device(boxes.front());
    } else {
      copy_together(boxes);
    }
  }

  void stage_out(std::byte* staging, const std::byte* buffer, std::size_t bytes) override {
    if constexpr (!is_host_space<Space>) {
      Kokkos::deep_copy(space_, unmanaged<StagingSpace>(staging, bytes),
                        unmanaged<typename Space::memory_space>(const_cast<std::byte*>(buffer), bytes));
    }
  }
  void stage_in(std::byte* buffer, const std::byte* staging, std::size_t bytes) override {
    if constexpr (!is_host_space<Space>) {
      Kokkos::deep_copy(space_, unmanaged<typename Space::memory_space>(buffer, bytes),
                        unmanaged<StagingSpace>(const_cast<std::byte*>(staging), bytes));
    }
  }

  void fence() override { space_.fence("comm::fence"); }

  [[nodiscard]] Buffer allocate(std::size_t bytes) const override {
    if constexpr (is_host_space<Space>) return allocate_as<Kokkos::HostSpace>("comm::buffer", bytes);
    const DeviceScope scope(device());
    return allocate_on_device(bytes);
  }
  [[nodiscard]] Buffer allocate_zeroed(std::size_t bytes) const override {
    Buffer buffer = allocate(bytes);
    Kokkos::deep_copy(space_, unmanaged<typename Space::memory_space>(buffer.data, bytes), std::byte{0});
    space_.fence("comm::allocate_zeroed");
    return buffer;
  }
  [[nodiscard]] Buffer allocate_staging(std::size_t bytes) const override {
    return allocate_as<StagingSpace>("comm::staging", bytes);
  }
  [[nodiscard]] bool runs_on_host() const override { return is_host_space<Space>; }
  [[nodiscard]] void* stream() const override { return stream_of(space_); }
  [[nodiscard]] int device() const override { return device_of(space_); }

 private:
  using StagingSpace =
      std::conditional_t<is_host_space<Space>, Kokkos::HostSpace, typename HostPinned<Space>::type>;

  template <class MemorySpace>
  static auto unmanaged(std::byte* data, std::size_t bytes) {
    return Kokkos::View<std::byte*, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(data, bytes);
  }

  /// Kokkos makes its default GPU the current one when it allocates or frees page-locked memory.
  template <class MemorySpace>
  Buffer allocate_as(const std::string& label, std::size_t bytes) const {
    using View = Kokkos::View<std::byte*, MemorySpace>;
    const DeviceScope scope(device());
    const std::shared_ptr<View> view(new View(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), bytes),
                                     [device = device()](View* freed) {
                                       const DeviceScope freeing(device);
                                       delete freed;
                                     });
    return {view->data(), view};
  }

  void copy_on_host(const CopyBox& box) {
    const std::int64_t rows = row_count(box);
    const int threads = space_.concurrency();
    if (threads == 1 || rows < threads || box.bytes() < parallel_copy_bytes) {
      copy_rows_on_host(box, 0, rows);
      return;
    }
    Kokkos::parallel_for("comm::copy", Kokkos::RangePolicy<Space>(space_, 0, threads), [=](int part) {
      copy_rows_on_host(box, rows * part / threads, rows * (part + 1) / threads);
    });
  }

  void copy_on_device(const CopyBox& box) {
    switch (word_bytes(box)) {
      case 16:
        return copy_words<16>(box);
      case 8:
        return copy_words<8>(box);
      case 4:
        return copy_words<4>(box);
      case 2:
        return copy_words<2>(box);
      default:
        copy_words<1>(box);
    }
  }

  template <int WordBytes>
  void copy_words(const CopyBox& box) {
    const auto words = static_cast<int>(box.element_bytes / WordBytes);
    Kokkos::parallel_for(
        "comm::copy", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space_, 0, box.elements()),
        CopyElements<WordBytes>{DeviceBox(box), words});
  }

  void copy_together(std::span<const CopyBox> boxes) {
    CopyBoxes together;
    for (const CopyBox& box : boxes) {
      together.add(box);
      if (together.count < CopyBoxes::most && &box != &boxes.back()) continue;
      // Kokkos would put so large a functor into constant memory, which waits for the kernel before.
      Kokkos::parallel_for(
          "comm::copy",
          Kokkos::Experimental::require(
              Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space_, 0, together.elements()),
              Kokkos::Experimental::WorkItemProperty::HintLightWeight),
          together);
      together.count = 0;
    }
  }

  Space space_;
};

/// Folds every element of a box on the calling thread (host) or one thread per element (device).
template <class T, class Operation>
struct CombineElements {
  DeviceBox box;
  Operation operation;
  KOKKOS_FUNCTION void operator()(std::int64_t element) const {
    const auto* from =
        reinterpret_cast<const T*>(box.source + element_offset(box.extents, box.source_strides, element));
    auto* to = reinterpret_cast<T*>(box.target + element_offset(box.extents, box.target_strides, element));
    *to = operation(*to, *from);
  }
};

/// Combiner for elements of type T on one Kokkos execution space instance.
template <class Space, class T, class Operation>
class KokkosCombiner final : public Combiner {
 public:
  KokkosCombiner(const Space& space, const Operation& operation) : space_(space), operation_(operation) {}

  void combine(const CopyBox& box) override {
    Kokkos::parallel_for(
        "comm::combine",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space_, 0, box.elements()),
        CombineElements<T, Operation>{DeviceBox(box), operation_});
  }

 private:
  Space space_;
  Operation operation_;
};

}  // namespace selvage::detail
