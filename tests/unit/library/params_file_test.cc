// VerifyParamsFile on NET.params: each kind of damage has its own message. (library_test.cc has NET_create's checks.)
#include "library/params_file.h"

#include "base/file.h"
#include "common/expect.h"
#include "library/runtime/params_format.h"

namespace hone::library {
namespace {

class ParamsFileTest : public testing::Test {
 protected:
  // The message for a file with these bytes.
  std::string Said(const std::string& bytes) const {
    const std::string path = dir_.Join("net.params");
    Must(WriteFileAtomic(path, bytes));
    const Status status = VerifyParamsFile(path, good_.DigestHex());
    if (status.ok()) return "";
    EXPECT_EQ(status.kind(), StatusKind::kCorrupt);
    EXPECT_THAT(status.message(), StartsWith(path + ": "));
    EXPECT_THAT(status.message(), HasSubstr("; build the library again"));
    return status.message().substr(path.size() + 2);
  }
  std::string SaidWith(size_t at) const {
    std::string bytes = good_.bytes;
    bytes[at] ^= 1;
    return Said(bytes);
  }

  const TempDir dir_ = Must(TempDir::Create());
  const ParamsFile good_ = MakeParamsFile(
      "net", {{.name = "c1/weight", .bytes = std::string(100, 'w')}, {.name = "c1/bias", .bytes = "bias"}});
};

TEST_F(ParamsFileTest, WhatWasWrittenIsRight) { EXPECT_EQ(Said(good_.bytes), ""); }

TEST_F(ParamsFileTest, EachDamageHasItsName) {
  for (const std::string& bytes : {std::string(), good_.bytes.substr(0, sizeof(HoneParamsHeader) - 1)}) {
    EXPECT_THAT(Said(bytes), StartsWith("damaged: not a parameter file of Hone"));
  }
  EXPECT_THAT(SaidWith(0), StartsWith("damaged: not a parameter file of Hone"));
  const std::string size = std::to_string(good_.bytes.size());
  EXPECT_THAT(Said(good_.bytes + "x"),
              StartsWith("damaged: has " + std::to_string(good_.bytes.size() + 1) + " bytes of " + size));
  EXPECT_THAT(Said(good_.bytes.substr(0, 300)), StartsWith("damaged: has 300 bytes of " + size));
  EXPECT_THAT(SaidWith(sizeof(HoneParamsHeader) + 3), StartsWith("damaged in its table of contents"));
  // More entries than there are bytes.
  EXPECT_THAT(SaidWith(offsetof(HoneParamsHeader, count) + 3), StartsWith("damaged in its table of contents"));
  EXPECT_THAT(SaidWith(offsetof(HoneParamsHeader, digest)),
              StartsWith("belongs to another build than the manifest.json"));
  EXPECT_THAT(SaidWith(good_.offsets[0] + 99), StartsWith("damaged: the values of `c1/weight` are not those"));
  EXPECT_THAT(SaidWith(good_.offsets[1]), StartsWith("damaged: the values of `c1/bias` are not those"));
}

}  // namespace
}  // namespace hone::library
