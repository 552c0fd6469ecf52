#include "task/config.h"

#include "common/expect.h"

namespace hone {
namespace {

Config Sample() {
  return {"conv2d_direct",
          1234,
          {{"tile_ow", KnobKind::kSplit, {-1, 14}, {}},
           {"order", KnobKind::kReorder, {1, 0, 2}, {}},
           {"ann", KnobKind::kAnnotate, {}, {"unroll", "vec"}},
           {"where", KnobKind::kOther, {}, {"rows"}},
           {"unroll", KnobKind::kOther, {4}, {}}}};
}

TEST(Config, JsonReadsBack) {
  const std::string json = Sample().ToJson();
  EXPECT_EQ(json,
            R"({"template":"conv2d_direct","index":1234,"entity":[["tile_ow","sp",[-1,14]],["order","re",[1,0,2]],)"
            R"(["ann","an",["unroll","vec"]],["where","ot","rows"],["unroll","ot",4]]})");
  EXPECT_EQ(Must(Config::FromJson(json)), Sample());
}

TEST(Config, DigestIsOfTheValuesNotOfTheIndex) {
  Config other = Sample();
  other.index = 5;
  EXPECT_EQ(other.ValueDigest(), Sample().ValueDigest());
  other.values[4].numbers[0] = 8;
  EXPECT_NE(other.ValueDigest(), Sample().ValueDigest());
}

TEST(Config, AnIndexHas128Bits) {
  EXPECT_EQ(Must(ParseIndex("0")), 0);
  EXPECT_EQ(Must(ParseIndex("18446744073709551616")), PointIndex{1} << 64);
  EXPECT_EQ(Must(ParseIndex("340282366920938463463374607431768211455")), kNoIndex);
  for (const char* bad : {"", "-1", "+1", "1 ", "0x1", "340282366920938463463374607431768211456"}) {
    EXPECT_FALSE(ParseIndex(bad).ok()) << bad;
  }
}

TEST(Config, AnIndexOfMoreThan64BitsIsNotWritten) {
  Config config{"t", PointIndex{UINT64_MAX} + 1, {}};
  EXPECT_EQ(config.IndexText(), "-");
  EXPECT_EQ(config.ToJson(), R"({"template":"t","index":null,"entity":[]})");
  EXPECT_EQ(Config::FromJson(config.ToJson())->index, kNoIndex);
  config.index = UINT64_MAX;
  EXPECT_EQ(config.IndexText(), "18446744073709551615");
  EXPECT_EQ(*Config::FromJson(config.ToJson()), config);
}

TEST(Config, BadJsonIsRefused) {
  for (const char* json : {"", "{}", "[]", R"({"template":"t","index":-1,"entity":[]})",
                           R"({"template":"t","index":0,"entity":[["a","zz",1]]})",
                           R"({"template":"t","index":0,"entity":[["a","sp",4]]})",
                           R"({"template":"t","index":0,"entity":[["a","ot",1.5]]})"}) {
    Result<Config> c = Config::FromJson(json);
    ASSERT_FALSE(c.ok()) << json;
    EXPECT_THAT(c.status().message(), Not(HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace hone
