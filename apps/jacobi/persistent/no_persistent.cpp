#include "jacobi/persistent/persistent.hpp"

#include <selvage/error.hpp>

namespace selvage::jacobi {

// Without a GPU backend.

template <class Real>
struct PersistentSweeps<Real>::Parts {};

template <class Real>
int persistent_steps_per_pass() {
  return 1;
}

template <class Real>
std::string refuse_persistent(const Grid<2>&) {
  return "the persistent form needs a GPU backend, and this build has none";
}

template <class Real>
PersistentSweeps<Real>::PersistentSweeps(const Space&, const Grid<2>& grid, const Problem<2>&,
                                         const PersistentSource<Real>&) {
  throw Error(ErrorKind::unsupported, refuse_persistent<Real>(grid));
}

template <class Real>
PersistentSweeps<Real>::PersistentSweeps(PersistentSweeps&&) noexcept = default;
template <class Real>
PersistentSweeps<Real>& PersistentSweeps<Real>::operator=(PersistentSweeps&&) noexcept = default;
template <class Real>
PersistentSweeps<Real>::~PersistentSweeps() = default;

// The constructor throws, so that no object is there to call these.
template <class Real>
void PersistentSweeps<Real>::load(const Real*, std::ptrdiff_t) {}
template <class Real>
void PersistentSweeps<Real>::store(Real*, std::ptrdiff_t) const {}
template <class Real>
void PersistentSweeps<Real>::advance(std::int64_t) {}
template <class Real>
double PersistentSweeps<Real>::try_sweep() {
  return 0;
}
template <class Real>
void PersistentSweeps<Real>::accept() {}
template <class Real>
const Real* PersistentSweeps<Real>::first_cell() const {
  return nullptr;
}
template <class Real>
std::ptrdiff_t PersistentSweeps<Real>::stride() const {
  return 0;
}
template <class Real>
std::string PersistentSweeps<Real>::explain() const {
  return {};
}

template class PersistentSweeps<float>;
template class PersistentSweeps<double>;
template int persistent_steps_per_pass<float>();
template int persistent_steps_per_pass<double>();
template std::string refuse_persistent<float>(const Grid<2>&);
template std::string refuse_persistent<double>(const Grid<2>&);

}  // namespace selvage::jacobi
