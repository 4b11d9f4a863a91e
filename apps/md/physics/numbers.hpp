#pragma once

namespace selvage::md {

/// What positions, velocities and forces are kept in, and what one pair's force is computed in. Energies, the
/// virial and all sums over atoms are fp64 in any case.
struct Fp64 {
  using Stored = double;
  using Computed = double;
};
struct Mixed {
  using Stored = double;
  using Computed = float;
};
struct Fp32 {
  using Stored = float;
  using Computed = float;
};

}  // namespace selvage::md
