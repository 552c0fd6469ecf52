// A small seeded generator whose sequence is the same on every platform and in every version, since records store
// seeds.
//
// xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018), its state filled from the
// seed by splitmix64. Has its own distributions because those of std differ between libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hone {

// The splitmix64 step: a good 64-bit mix of `x`; also turns (seed, index) into independent seeds: Mix64(seed ^
// Mix64(i)).
uint64_t Mix64(uint64_t x);

class Rng {
 public:
  explicit Rng(uint64_t seed);

  uint64_t Next();                  // uniform over all 64-bit values
  uint64_t UniformInt(uint64_t n);  // uniform on 0 .. n-1, unbiased. REQUIRES: n > 0
  double UniformDouble();           // uniform on [0, 1), a multiple of 2^-53
  double Normal();                  // mean 0, deviation 1 (Marsaglia's polar method); uses std::log and std::sqrt

  // Fisher-Yates shuffle, from the back.
  template <typename T>
  void Shuffle(std::vector<T>* items) {
    for (size_t i = items->size(); i > 1; --i) std::swap((*items)[i - 1], (*items)[UniformInt(i)]);
  }

 private:
  uint64_t state_[4];
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace hone
