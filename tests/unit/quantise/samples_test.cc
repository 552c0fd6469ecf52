#include "quantise/samples.h"

#include "common/expect.h"

namespace hone::quantise {
namespace {

const TensorType kImage{DType::Float(32), {1, 2, 3}};

std::vector<float> Counted(int64_t count) {
  std::vector<float> values(static_cast<size_t>(6 * count));
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

std::string Raw(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::string Message(const std::string& bytes, const TensorType& type = kImage) {
  const auto read = ParseSamples(bytes, "in.npy", type, 100);
  return read.ok() ? "read" : read.status().message();
}

TEST(Samples, RawValuesAreOneInputAfterTheOther) {
  const Samples samples = Must(ParseSamples(Raw(Counted(3)), "in", kImage, 100));
  EXPECT_EQ(samples.count, 3);
  EXPECT_EQ(samples.values, Counted(3));
  const Samples two = Must(ParseSamples(Raw(Counted(3)), "in", kImage, 2));
  EXPECT_EQ(two.count, 2);
  EXPECT_EQ(two.values, Counted(2));
}

TEST(Samples, NpyMayHaveAnAxisOfInputs) {
  for (const auto& [shape, count] : std::vector<std::pair<std::vector<int64_t>, int64_t>>{
           {{1, 2, 3}, 1}, {{2, 3}, 1}, {{4, 1, 2, 3}, 4}, {{4, 2, 3}, 4}, {{1, 1, 2, 3}, 1}}) {
    const Samples samples = Must(ParseSamples(NpyText(shape, Counted(count)), "in.npy", kImage, 100));
    EXPECT_EQ(samples.count, count);
    EXPECT_EQ(samples.values, Counted(count));
  }
}

TEST(Samples, ABatchIsOneInput) {
  const TensorType batch{DType::Float(32), {2, 3}};
  EXPECT_EQ(Must(ParseSamples(NpyText({2, 3}, Counted(1)), "in.npy", batch, 100)).count, 1);
  EXPECT_EQ(Must(ParseSamples(NpyText({5, 2, 3}, Counted(5)), "in.npy", batch, 100)).count, 5);
  EXPECT_THAT(Message(NpyText({4, 3}, Counted(2)), batch), HasSubstr("has the shape (4, 3)"));
}

TEST(Samples, OtherTypesOrdersAndShapesSayWhatToDo) {
  const std::string good = NpyText({2, 3}, Counted(1));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string bytes = good;
    bytes.replace(bytes.find(from), from.size(), to);
    return Message(bytes);
  };
  EXPECT_EQ(Message(good), "read");
  EXPECT_THAT(with("<f4", "<f8"), HasSubstr("in.npy: has values of type '<f8', must be '<f4' (float32)"));
  EXPECT_THAT(with("<f4", ">f4"), HasSubstr("astype"));
  EXPECT_THAT(with("False", "True "), HasSubstr("Fortran"));
  EXPECT_THAT(with("(2, 3, )", "(3, 2, )"), HasSubstr("has the shape (3, 2), but the network's input is f32[1,2,3]"));
  EXPECT_THAT(with("'descr'", "'other'"), HasSubstr("header"));
  EXPECT_THAT(with(std::string("\x01\x00", 2), std::string("\x04\x00", 2)), HasSubstr("version 4.0"));
}

TEST(Samples, WhatIsCutShortIsRefused) {
  const std::string good = NpyText({3, 2, 3}, Counted(3));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(Message(good.substr(0, size)), "read") << size;
  }
  EXPECT_THAT(Message(good + "more"), HasSubstr("needs 3 inputs of 24 bytes"));
  EXPECT_THAT(Message(Raw(Counted(2)).substr(4)), HasSubstr("44 bytes, which is not a multiple of the 24 bytes"));
  EXPECT_THAT(Message(""), HasSubstr("has no input"));
}

TEST(Samples, ValuesMustBeFinite) {
  std::vector<float> values = Counted(2);
  values[8] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(Message(Raw(values)), HasSubstr("value 2 of input 1 is nan"));
  values[8] = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(Message(NpyText({2, 2, 3}, values)), HasSubstr("value 2 of input 1 is -inf"));
}

}  // namespace
}  // namespace hone::quantise
