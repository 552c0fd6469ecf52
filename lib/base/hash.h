// 128-bit content digests: XXH3-128 with seed 0. Not cryptographic: for identity, not against an adversary. Digests are
// part of files and file names, so they are the same on every platform and in every version of Hone.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

struct Digest {
  uint64_t hi = 0;
  uint64_t lo = 0;

  std::string Hex() const;  // 32 lower-case hexadecimal digits, hi first
  constexpr bool operator==(const Digest&) const = default;
  constexpr auto operator<=>(const Digest&) const = default;
};

Digest Digest128(std::string_view bytes);

// The inverse of Hex(); kInvalid for anything but 32 lower-case hexadecimal digits.
Result<Digest> ParseDigest(std::string_view hex);

// The digest of a concatenation, piece by piece: Add(a), Add(b) gives Digest128(a + b). Boundaries between pieces do
// not count: where "ab","c" must differ from "a","bc", add lengths or separators (AddField does).
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void Add(std::string_view bytes);
  void AddInt(uint64_t value);            // 8 bytes, little endian
  void AddField(std::string_view bytes);  // adds the length by AddInt, then the bytes
  Digest Finish() const;                  // of all bytes added so far; more can be added afterwards

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone

template <>
struct std::hash<hone::Digest> {
  size_t operator()(const hone::Digest& d) const { return static_cast<size_t>(d.lo); }
};
