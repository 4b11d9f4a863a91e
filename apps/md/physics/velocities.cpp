#include "md/physics/velocities.hpp"

#include <array>
#include <cmath>
#include <cstring>

namespace selvage::md {
namespace {

/// Jenkins's one-at-a-time hash of bytes taken as signed numbers.
class ByteHash {
 public:
  template <class T>
  void add(const T& value) {
    std::array<signed char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), &value, sizeof(T));
    for (const signed char byte : bytes) {
      hash_ += static_cast<std::uint32_t>(byte);
      hash_ += hash_ << 10;
      hash_ ^= hash_ >> 6;
    }
  }

  [[nodiscard]] std::uint32_t value() const {
    std::uint32_t hash = hash_ + (hash_ << 3);
    hash ^= hash >> 11;
    return hash + (hash << 15);
  }

 private:
  std::uint32_t hash_ = 0;
};

/// The minimal standard generator: numbers in (0, 1).
class MinimalStandard {
 public:
  explicit MinimalStandard(std::int64_t seed) : state_(seed == 0 ? 1 : seed) {}

  double next() {
    state_ = state_ * 16807 % modulus;
    return static_cast<double>(state_) * (1.0 / modulus);
  }

 private:
  static constexpr std::int64_t modulus = 2147483647;
  std::int64_t state_;
};

Vec3<double> draw(const Vec3<double>& position, std::int32_t seed) {
  ByteHash hash;
  hash.add(seed);
  hash.add(position.x);
  hash.add(position.y);
  hash.add(position.z);
  MinimalStandard generator(hash.value() & 0x7ffffff);
  for (int dropped = 0; dropped < 5; ++dropped) (void)generator.next();
  const double x = generator.next() - 0.5;
  const double y = generator.next() - 0.5;
  const double z = generator.next() - 0.5;
  return {x, y, z};
}

void remove_mean(std::vector<Vec3<double>>& velocities) {
  Vec3<double> sum{0, 0, 0};
  for (const auto& v : velocities) sum = {sum.x + v.x, sum.y + v.y, sum.z + v.z};
  const auto atoms = static_cast<double>(velocities.size());
  for (auto& v : velocities) v = {v.x - sum.x / atoms, v.y - sum.y / atoms, v.z - sum.z / atoms};
}

}  // namespace

void draw_velocities(State& state, double temperature, std::int32_t seed) {
  auto& velocities = state.velocities;
  for (std::size_t i = 0; i < velocities.size(); ++i) velocities[i] = draw(state.positions[i], seed);
  remove_mean(velocities);
  double twice_kinetic = 0;
  for (const auto& v : velocities) twice_kinetic += v.x * v.x + v.y * v.y + v.z * v.z;
  const double drawn = twice_kinetic / (3.0 * static_cast<double>(state.atoms()) - 3.0);
  const double factor = std::sqrt(temperature / drawn);
  for (auto& v : velocities) v = {v.x * factor, v.y * factor, v.z * factor};
}

}  // namespace selvage::md
