#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hone {
namespace {

Digest FromXxh(XXH128_hash_t h) { return {h.high64, h.low64}; }

// -1 for anything but 0-9a-f.
int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string Digest::Hex() const {
  static const char digits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[15 - i] = digits[(hi >> (4 * i)) & 15];
    text[31 - i] = digits[(lo >> (4 * i)) & 15];
  }
  return text;
}

Digest Digest128(std::string_view bytes) { return FromXxh(XXH3_128bits(bytes.data(), bytes.size())); }

Result<Digest> ParseDigest(std::string_view hex) {
  Digest d;
  bool good = hex.size() == 32;
  for (size_t i = 0; good && i < 32; ++i) {
    int value = HexValue(hex[i]);
    good = value >= 0;
    uint64_t& half = i < 16 ? d.hi : d.lo;
    half = (half << 4) | static_cast<uint64_t>(value & 15);
  }
  if (!good) {
    return Status::Invalid("`" + std::string(hex) + "` is not a digest: expected 32 lower-case hexadecimal digits");
  }
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
