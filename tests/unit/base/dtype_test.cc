#include "base/dtype.h"

#include "common/expect.h"

namespace hone {
namespace {

TEST(DType, TextBothWays) {
  const std::pair<DType, const char*> table[] = {
      {DType::Int(8), "i8"},       {DType::Int(64), "i64"},
      {DType::UInt(8), "u8"},      {DType::UInt(32), "u32"},
      {DType::Float(16), "f16"},   {DType::Float(32), "f32"},
      {DType::Float(64), "f64"},   {DType::Bool(), "bool"},
      {DType::Handle(), "handle"}, {DType::Float(32).WithLanes(16), "f32x16"},
      {DType::Bool(8), "boolx8"},  {DType::UInt(8, 65535), "u8x65535"},
  };
  for (const auto& [type, text] : table) {
    EXPECT_EQ(ToString(type), text);
    EXPECT_EQ(Must(ParseDType(text)), type) << text;
  }
}

TEST(DType, RefusesWhatIsNoType) {
  for (const char* text :
       {"",        "f",      "f8",        "f33",          "i7",  "i",    "x",    "f32x",    "f32x0",
        "f32x1",   "f32x-2", "f32x65536", "f032",         "F32", " f32", "f32 ", "float32", "handlex2",
        "f32x4x4", "i+8",    "bool8",     "u999999999999"}) {
    const Status status = ParseDType(text).status();
    EXPECT_EQ(status.kind(), StatusKind::kInvalid);
    EXPECT_THAT(status.message(), HasSubstr("`" + std::string(text) + "`"));
  }
}

TEST(DType, Bytes) {
  EXPECT_EQ(DType::Float(32).bytes(), 4);
  EXPECT_EQ(DType::Float(32, 16).bytes(), 64);
  EXPECT_EQ(DType::Bool().bytes(), 1);
  EXPECT_EQ(DType::Bool(8).bytes(), 8);
  EXPECT_EQ(DType::Handle().bytes(), 8);
  EXPECT_EQ(DType::Float(32, 16).element(), DType::Float(32));
}

}  // namespace
}  // namespace hone
