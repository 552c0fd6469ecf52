#include "task/tensor_data.h"

#include "common/expect.h"

namespace hone {
namespace {

TEST(TensorData, IsItsTypeAndZeros) {
  const TensorData data(TensorType{DType::Int(16), {2, 3}});
  EXPECT_EQ(data.bytes.size(), 12u);
  EXPECT_EQ(data.Doubles(), std::vector<double>(6, 0));
  EXPECT_EQ(TensorData(TensorType{DType::Float(32), {}}).bytes.size(), 4u);
  EXPECT_EQ(TensorData().Elements(), 0);
}

TEST(TensorData, RoundsAndClamps) {
  const std::vector<double> values = {-1e30, -129, -0.5, 0.5, 1.5, 127.4, 300, 1e30};
  const auto as = [&](DType type) { return TensorData(TensorType{type, {8}}, values).Doubles(); };
  EXPECT_EQ(as(DType::Int(8)), (std::vector<double>{-128, -128, 0, 0, 2, 127, 127, 127}));
  EXPECT_EQ(as(DType::UInt(8)), (std::vector<double>{0, 0, 0, 0, 2, 127, 255, 255}));
  EXPECT_EQ(as(DType::Int(64))[0], -0x1p63);
  EXPECT_EQ(TensorData(TensorType{DType::Int(64), {1}}, {1e30}).as<int64_t>()[0], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(TensorData(TensorType{DType::UInt(64), {1}}, {1e30}).as<uint64_t>()[0],
            std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(TensorData(TensorType{DType::Int(32), {1}}, {NAN}).Doubles()[0], -0x1p31);
  EXPECT_EQ(as(DType::Float(64)), values);
  EXPECT_TRUE(std::isnan(TensorData(TensorType{DType::Float(32), {1}}, {NAN}).Doubles()[0]));
}

TEST(TensorData, EveryTypeComesBack) {
  for (int bits : {8, 16, 32, 64}) {
    for (DType type : {DType::Int(bits), DType::UInt(bits)}) {
      const std::vector<double> values = {0, 1, 100, type.is_int() ? -100.0 : 100};
      EXPECT_EQ(TensorData(TensorType{type, {2, 2}}, values).Doubles(), values) << ToString(type);
    }
  }
}

TEST(TensorDataDeathTest, AnotherTypeIsAMistake) {
  TensorData floats = std::vector<float>{1, 2};
  EXPECT_EQ(floats.type.Text(), "f32[2]");
  EXPECT_DEATH(floats.as<int32_t>(), "DTypeOf");
  EXPECT_DEATH(TensorData(TensorType{DType::Float(16), {1}}, {1}), "");
}

}  // namespace
}  // namespace hone
