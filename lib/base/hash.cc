#include "base/hash.h"

#include <charconv>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hone {

static Digest FromXxh(XXH128_hash_t h) { return {h.high64, h.low64}; }

std::string Digest::Hex() const { return fmt::format("{:016x}{:016x}", hi, lo); }

Digest Digest128(std::string_view bytes) { return FromXxh(XXH3_128bits(bytes.data(), bytes.size())); }

Result<Digest> ParseDigest(std::string_view hex) {
  if (hex.size() != 32 || hex.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return Status::Invalid("`" + std::string(hex) + "` is not a digest: expected 32 lower-case hexadecimal digits");
  }
  Digest d;
  const char *first = hex.data(), *middle = first + 16;
  std::from_chars(first, middle, d.hi, 16);
  std::from_chars(middle, middle + 16, d.lo, 16);
  return d;
}

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(new State) { XXH3_128bits_reset(&state_->xxh); }
Hasher::~Hasher() = default;

void Hasher::Add(std::string_view bytes) { XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size()); }

void Hasher::AddInt(uint64_t value) {
  char bytes[8];
  for (char& b : bytes) {
    b = static_cast<char>(value & 255);
    value >>= 8;
  }
  Add({bytes, sizeof bytes});
}

void Hasher::AddField(std::string_view bytes) {
  AddInt(bytes.size());
  Add(bytes);
}

Digest Hasher::Finish() const { return FromXxh(XXH3_128bits_digest(&state_->xxh)); }

}  // namespace hone
