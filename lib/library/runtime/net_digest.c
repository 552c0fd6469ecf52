/* XXH3-128 with seed 0 and the default secret, as specified in xxHash's doc/xxhash_spec.md, for the lengths that
 * parameter files have. Plain C, because libraries must contain no other project's code. Reading the memory takes
 * most of the time, so one core is enough. */
#include <string.h>

#include "library/runtime/net_runtime.h"

#define STRIPE 64u
#define LANES 8u
#define SECRET_BYTES 192u
#define STRIPES_A_BLOCK ((SECRET_BYTES - STRIPE) / 8)
#define LONGEST_SHORT 240u

#define PRIME32_1 0x9E3779B1u
#define PRIME32_2 0x85EBCA77u
#define PRIME32_3 0xC2B2AE3Du
#define PRIME64_1 0x9E3779B185EBCA87u
#define PRIME64_2 0xC2B2AE3D27D4EB4Fu
#define PRIME64_3 0x165667B19E3779F9u
#define PRIME64_4 0x85EBCA77C2B2AE63u
#define PRIME64_5 0x27D4EB2F165667C5u

static const uint8_t secret[SECRET_BYTES] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4,
    0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e,
    0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43,
    0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb,
    0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19,
    0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7,
    0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78,
    0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16,
    0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f,
    0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

typedef struct Lanes {
  uint64_t v[LANES];
} Lanes;

static uint64_t read64(const void* p) {
  uint64_t value;
  memcpy(&value, p, sizeof value);
  return value;
}

static uint64_t multiply_fold(uint64_t a, uint64_t b) {
  const unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t avalanche(uint64_t h) {
  h = (h ^ (h >> 37)) * 0x165667919E3779F9u;
  return h ^ (h >> 32);
}

static void put(uint64_t high, uint64_t low, uint8_t digest[16]) {
  for (int i = 0; i < 8; ++i) {
    digest[i] = (uint8_t)(high >> (56 - 8 * i));
    digest[8 + i] = (uint8_t)(low >> (56 - 8 * i));
  }
}

/* 129 to 240 bytes. */

static uint64_t mix16(const uint8_t* p, const uint8_t* key) {
  return multiply_fold(read64(p) ^ read64(key), read64(p + 8) ^ read64(key + 8));
}

static void mix32(uint64_t sum[2], const uint8_t* a, const uint8_t* b, const uint8_t* key) {
  sum[0] = (sum[0] + mix16(a, key)) ^ (read64(b) + read64(b + 8));
  sum[1] = (sum[1] + mix16(b, key + 16)) ^ (read64(a) + read64(a + 8));
}

static void digest_short(const uint8_t* data, size_t size, uint8_t digest[16]) {
  uint64_t sum[2] = {size * PRIME64_1, 0};
  for (size_t i = 0; i < 4; ++i) mix32(sum, data + 32 * i, data + 32 * i + 16, secret + 32 * i);
  for (int i = 0; i < 2; ++i) sum[i] = avalanche(sum[i]);
  for (size_t i = 4; i < size / 32; ++i) mix32(sum, data + 32 * i, data + 32 * i + 16, secret + 3 + 32 * (i - 4));
  mix32(sum, data + size - 16, data + size - 32, secret + 103);
  put(0 - avalanche(sum[0] * PRIME64_1 + sum[1] * PRIME64_4 + size * PRIME64_2), avalanche(sum[0] + sum[1]), digest);
}

/* More than 240 bytes, in stripes of 64. */

static void add_stripe(Lanes* lanes, const uint8_t* data, const uint8_t* key) {
  for (size_t i = 0; i < LANES; ++i) {
    const uint64_t value = read64(data + 8 * i), keyed = value ^ read64(key + 8 * i);
    lanes->v[i ^ 1] += value;
    lanes->v[i] += (keyed & 0xFFFFFFFFu) * (keyed >> 32);
  }
}

static void scramble(Lanes* lanes) {
  for (size_t i = 0; i < LANES; ++i) {
    const uint64_t v = lanes->v[i];
    lanes->v[i] = (v ^ (v >> 47) ^ read64(secret + SECRET_BYTES - STRIPE + 8 * i)) * PRIME32_1;
  }
}

static uint64_t merge(const Lanes* lanes, const uint8_t* key, uint64_t start) {
  for (size_t i = 0; i < LANES; i += 2)
    start += multiply_fold(lanes->v[i] ^ read64(key + 8 * i), lanes->v[i + 1] ^ read64(key + 8 * i + 8));
  return avalanche(start);
}

/* The last stripe has a key of its own. */
static void digest_long(const HoneNetBytes parts[2], uint8_t digest[16]) {
  Lanes lanes = {{PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1}};
  const uint64_t size = parts[0].size + parts[1].size;
  const size_t stripes = size / STRIPE;
  size_t n = 0;
  for (int part = 0; part < 2; ++part) {
    const uint8_t* end = parts[part].data + parts[part].size;
    for (const uint8_t* data = parts[part].data; data < end; data += STRIPE, ++n) {
      const size_t in_block = n % STRIPES_A_BLOCK;
      if (n > 0 && in_block == 0) scramble(&lanes);
      add_stripe(&lanes, data, n + 1 < stripes ? secret + 8 * in_block : secret + SECRET_BYTES - STRIPE - 7);
    }
  }
  put(merge(&lanes, secret + SECRET_BYTES - STRIPE - 11, ~(size * PRIME64_2)),
      merge(&lanes, secret + 11, size * PRIME64_1), digest);
}

void hone_net_digest(const HoneNetBytes parts[2], uint8_t digest[16]) {
  const size_t size = parts[0].size + parts[1].size;
  if (size > LONGEST_SHORT) {
    digest_long(parts, digest);
    return;
  }
  uint8_t joined[LONGEST_SHORT];
  memcpy(joined, parts[0].data, parts[0].size);
  memcpy(joined + parts[0].size, parts[1].data, parts[1].size);
  digest_short(joined, size, digest);
}
