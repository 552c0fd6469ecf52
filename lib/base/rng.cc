#include "base/rng.h"

#include <cmath>

#include "base/check.h"

namespace hone {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

uint64_t Mix64(uint64_t x) {
  x += kGolden;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) {
    word = Mix64(seed);
    seed += kGolden;
  }
}

uint64_t Rng::Next() {
  uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Rng::UniformInt(uint64_t n) {
  HONE_CHECK(n > 0);
  // Values below 2^64 mod n would make small remainders more frequent: drop them.
  uint64_t low = (0 - n) % n;
  uint64_t x = Next();
  while (x < low) x = Next();
  return x % n;
}

double Rng::UniformDouble() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

double Rng::Normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double u, v, s;
  do {
    u = 2 * UniformDouble() - 1;
    v = 2 * UniformDouble() - 1;
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  double scale = std::sqrt(-2 * std::log(s) / s);
  spare_ = v * scale;
  has_spare_ = true;
  return u * scale;
}

}  // namespace hone
