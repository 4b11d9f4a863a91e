#include "sgd/model/matrix_product.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>

#include <cblas.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <cstddef>

namespace selvage::sgd {
namespace {

/// OpenBLAS 0.3 maps a buffer of 128 MiB for each thread that computes, and where it can't, tries again for ever.
constexpr std::size_t openblas_buffer_bytes = std::size_t{129} << 20;

/// \throws Error{io} where a limit of this process leaves OpenBLAS too little address space
void require_room_for_buffers() {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  auto* const count_threads = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  if (count_threads == nullptr) return;
  const int threads = count_threads();
  const std::size_t bytes = openblas_buffer_bytes * static_cast<std::size_t>(threads);
  void* const room =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    throw Error(ErrorKind::io, fmt::format("not enough memory: OpenBLAS takes {} MiB of address space for "
                                           "{}, which a limit of {} KiB (ulimit -v) "
                                           "doesn't leave",
                                           bytes >> 20, counted(threads, "thread"), limit.rlim_cur >> 10));
  munmap(room, bytes);
}

/// So that OpenBLAS takes its buffer while there is room for it.
void compute_a_first_product() {
  constexpr int size = 64;
  const std::array<float, std::size_t{size} * size> zeros{};
  std::array<float, std::size_t{size} * size> result{};
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1.0F, zeros.data(), size,
              zeros.data(), size, 0.0F, result.data(), size);
}

CBLAS_TRANSPOSE transposition(const Factor& factor) {
  return factor.form == Form::as_is ? CblasNoTrans : CblasTrans;
}

}  // namespace

class MatrixProducts::Library {
 public:
  explicit Library(const Space& instance) : space(instance) {}
  Space space;
};

MatrixProducts::MatrixProducts(const Space& space, ProductChoice /*choice*/)
    : library_(std::make_shared<Library>(space)) {
  require_room_for_buffers();
  compute_a_first_product();
}

void MatrixProducts::multiply(const Factor& a, const Factor& b, float* result) const {
  require_fit(a, b);
  if (a.height() == 0 || b.width() == 0) return;
  library_->space.fence("sgd: before a product");
  cblas_sgemm(CblasRowMajor, transposition(a), transposition(b), a.height(), b.width(), a.width(), 1.0F,
              a.data, a.distance(), b.data, b.distance(), 0.0F, result, b.width());
}

}  // namespace selvage::sgd
