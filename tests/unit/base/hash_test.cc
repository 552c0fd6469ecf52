#include "base/hash.h"

#include "common/expect.h"

namespace hone {
namespace {

// Values of the published XXH3 test vectors: XXH3_128bits of no bytes with seed 0.
TEST(Digest, MatchesThePublishedVector) { EXPECT_EQ(Digest128("").Hex(), "99aa06d3014798d86001c324468d497f"); }

TEST(Digest, HexBothWays) {
  Digest d{0x0123456789abcdef, 0xfedcba9876543210};
  EXPECT_EQ(d.Hex(), "0123456789abcdeffedcba9876543210");
  EXPECT_EQ(Must(ParseDigest(d.Hex())), d);
  for (const char* bad : {"", "0123456789abcdeffedcba987654321", "0123456789ABCDEFfedcba9876543210",
                          "0123456789abcdeffedcba98765432100", "g123456789abcdeffedcba9876543210"}) {
    EXPECT_FALSE(ParseDigest(bad).ok()) << bad;
  }
}

// Sizes around XXH3's changes of method (16, 128, 240 bytes, one 1024-byte block).
TEST(Hasher, PiecesGiveTheDigestOfTheWhole) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  for (size_t size : {0, 1, 16, 17, 128, 129, 240, 241, 1024, 1025, 5000}) {
    std::string whole = bytes.substr(0, size);
    Hasher hasher;
    for (size_t at = 0; at < size; at += 13) hasher.Add(std::string_view(whole).substr(at, 13));
    EXPECT_EQ(hasher.Finish(), Digest128(whole)) << size;
  }
}

TEST(Hasher, FinishDoesNotEnd) {
  Hasher hasher;
  hasher.Add("ab");
  EXPECT_EQ(hasher.Finish(), Digest128("ab"));
  hasher.Add("c");
  EXPECT_EQ(hasher.Finish(), Digest128("abc"));
}

TEST(Hasher, FieldsHaveBorders) {
  auto of = [](std::string_view a, std::string_view b) {
    Hasher hasher;
    hasher.AddField(a);
    hasher.AddField(b);
    return hasher.Finish();
  };
  EXPECT_NE(of("ab", "c"), of("a", "bc"));
  EXPECT_EQ(of("ab", "c"), of("ab", "c"));
  Hasher number;
  number.AddInt(0x0102030405060708);
  EXPECT_EQ(number.Finish(), Digest128("\x08\x07\x06\x05\x04\x03\x02\x01"));
}

}  // namespace
}  // namespace hone
