// Sums of products of bytes and their requantisation: values worked out by hand, types and refusals.
#include <cmath>

#include "common/expect.h"
#include "semantics/semantics.h"

namespace hone::semantics {
namespace {

Values Of(const std::string& text, const std::vector<Values>& operands) {
  const Workload w = Must(Workload::Parse(text));
  EXPECT_TRUE(InferOutput(w).ok()) << InferOutput(w).status().message();
  EXPECT_EQ(OperandTypes(w)->size(), operands.size());
  std::vector<const Values*> pointers;
  for (const Values& v : operands) pointers.push_back(&v);
  return Evaluate(w, pointers, 1);
}

std::string Refusal(const std::string& text) {
  const Result<Workload> w = Workload::Parse(text);
  return w.ok() ? InferOutput(*w).status().message() : w.status().message();
}

TEST(Integers, TypesOfOperandsAndOutput) {
  const Workload w = Must(Workload::Parse("conv2d(u8[1,2,3,3], i8[4,2,3,3], u8[1], pad=1,1,1,1) + bias + requant(i8)"));
  EXPECT_EQ(w.Text(), "conv2d(u8[1,2,3,3], i8[4,2,3,3], u8[1], pad=1,1,1,1) + bias + requant(i8)");
  EXPECT_EQ(InferOutput(w)->Text(), "i8[1,4,3,3]");
  std::string types;
  const std::vector<TensorType> operands = Must(OperandTypes(w));
  for (const TensorType& type : operands) types += type.Text() + " ";
  EXPECT_EQ(types, "u8[1,2,3,3] i8[4,2,3,3] u8[1] i32[4] f32[4] i8[3] ");
  EXPECT_EQ(InferOutput(Must(Workload::Parse("dense(i8[1,2], i8[3,2]) + bias")))->Text(), "i32[1,3]");
}

TEST(Integers, SumsAreThoseOfDifferencesFromTheZeroPoints) {
  // (200 - 3) * 5 + (7 - 3) * -6, and with the weights' zero points 1 and 2.
  EXPECT_EQ(Of("dense(u8[1,2], i8[1,2], u8[1])", {{200, 7}, {5, -6}, {3}}), Values({961}));
  EXPECT_EQ(Of("dense(u8[1,2], i8[2,2], u8[1], i8[2])", {{200, 7}, {5, -6, 5, -6}, {3}, {1, 2}}),
            Values({197 * 4 - 4 * 7, 197 * 3 - 4 * 8}));
  // Padding is the zero point, which adds nothing.
  EXPECT_EQ(Of("conv2d(u8[1,1,1,1], i8[1,1,3,3], u8[1], pad=1,1,1,1)", {{10}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {4}}),
            Values({30}));
}

TEST(Integers, ABiasWrapsAround) {
  EXPECT_EQ(Of("dense(u8[1,1], i8[1,1]) + bias", {{1}, {1}, {2147483647}}), Values({-2147483648.0}));
}

TEST(Integers, RequantRoundsHalfToEvenAndClamps) {
  const std::string dense = "dense(u8[1,1], i8[8,1]) + requant(u8)";
  const Values weights = {5, 7, -5, -7, 1, 127, -127, 0}, limits = {10, 8, 60};
  Values half(8, 0.5);
  // 2.5, 3.5, -2.5, -3.5, 0.5, 63.5, -63.5 and 0, plus 10.
  EXPECT_EQ(Of(dense, {{1}, weights, half, limits}), Values({12, 14, 8, 8, 10, 60, 8, 10}));
  half[0] = -0.5, half[1] = 1e30, half[2] = 1e30;
  EXPECT_EQ(Of(dense, {{1}, weights, half, limits}), Values({8, 60, 8, 8, 10, 60, 8, 10}));
}

// A sum of more than 24 bits is rounded when it becomes a float, and so is the product.
TEST(Integers, RequantRoundsTheSumAndTheProductOnce) {
  const Values limits = {0, -128, 127};
  // 2^24 + 1 becomes 2^24; times 2^-25 that is 0.5, which is 0. Exact, it is above 0.5, which is 1.
  EXPECT_EQ(Of("dense(u8[1,1], i8[1,1]) + bias + requant(i8)", {{1}, {1}, {16777216}, {0x1p-25}, limits}), Values({0}));
  // 3 times the next float above 2.5 / 3 is just above 2.5, which is 3; as f32 it is 2.5, which is 2.
  const double above = static_cast<double>(std::nextafter(2.5f / 3, 1.0f));
  EXPECT_EQ(Of("dense(u8[1,1], i8[1,1]) + requant(i8)", {{1}, {3}, {above}, limits}), Values({2}));
}

TEST(Integers, AResidualIsAddedByOneFma) {
  const std::string text = "dense(u8[1,1], i8[2,1]) + bias + add(i8) + requant(u8)";
  const Workload w = Must(Workload::Parse(text));
  EXPECT_EQ(w.Text(), text);
  std::string types;
  const std::vector<TensorType> operands = Must(OperandTypes(w));
  for (const TensorType& type : operands) types += type.Text() + " ";
  EXPECT_EQ(types, "u8[1,1] i8[2,1] i32[2] i8[1,2] f32[1] i8[1] f32[2] u8[3] ");
  // (3 * 5 + 1) * 0.5 + (7 - -1) * 0.25 = 10, and (3 * -5 + 1) * 0.5 + (-9 - -1) * 0.25 = -9, plus 20.
  const Values limits = {20, 0, 255};
  EXPECT_EQ(Of(text, {{3}, {5, -5}, {1, 1}, {7, -9}, {0.25}, {-1}, {0.5, 0.5}, limits}), Values({30, 11}));
  // 12 * (1/3 in f32) is 4 + 2^-23, in f32 4. With -3.5 that is just above 0.5, or in two roundings 0.5, a tie.
  const double third = static_cast<double>(1.0f / 3);
  EXPECT_EQ(Of("dense(u8[1,1], i8[1,1]) + add(i8) + requant(u8)", {{1}, {-7}, {12}, {third}, {0}, {0.5}, {0, 0, 255}}),
            Values({1}));
}

TEST(Integers, ShiftRoundsHalfUpAndClamps) {
  const std::string dense = "dense(i8[1,1], i8[8,1]) + bias + shift(i8)";
  const Workload w = Must(Workload::Parse(dense));
  EXPECT_EQ(w.Text(), dense);
  EXPECT_EQ(InferOutput(w)->Text(), "i8[1,8]");
  std::string types;
  const std::vector<TensorType> operands = Must(OperandTypes(w));
  for (const TensorType& type : operands) types += type.Text() + " ";
  EXPECT_EQ(types, "i8[1,1] i8[8,1] i32[8] i32[8] i8[2] ");
  const Values ones(8, 1), limits = {-127, 100};
  const auto shifted = [&](Values bias, Values shift) {
    for (double& b : bias) b -= 1;  // the sum is 1
    return Of(dense, {{1}, ones, bias, std::move(shift), limits});
  };
  // Ties go up: 2.5, 3.5, -2.5, -3.5, 0.5, -0.5; 0.25 and -0.75 do not.
  EXPECT_EQ(shifted({5, 7, -5, -7, 1, -1, 1, -3}, {1, 1, 1, 1, 1, 1, 2, 2}), Values({3, 4, -2, -3, 1, 0, 0, -1}));
  // To the left, and beyond the limits.
  EXPECT_EQ(shifted({5, -5, 50, 51, -64, -63, 1, -1}, {0, -1, -1, -1, -1, -2, -200, -31}),
            Values({5, -10, 100, 100, -127, -127, 100, -127}));
  // Nothing wraps around: neither 2^31 - 1 and its rounding, nor a shift to the left, nor any number of bits.
  const double most = 2147483647, least = -2147483648.0;
  EXPECT_EQ(shifted({most, least, most, least, most, least, most, least}, {31, 31, 30, 30, 32, 32, 1000, -1000}),
            Values({1, -1, 2, -2, 0, 0, 0, -127}));
  EXPECT_EQ(shifted({most, least, most, 1 << 30, (1 << 30) - 1, -(1 << 30), -(1 << 30) - 1, 0},
                    {25, 25, 1, 31, 31, 31, 31, -2000000000}),
            Values({64, -64, 100, 1, 0, 0, -1, 0}));
}

TEST(Integers, AResidualIsShiftedToTheSums) {
  const std::string text = "dense(i8[1,1], i8[4,1]) + bias + add(u8) + shift(u8)";
  std::string types;
  const std::vector<TensorType> operands = Must(OperandTypes(Must(Workload::Parse(text))));
  for (const TensorType& type : operands) types += type.Text() + " ";
  EXPECT_EQ(types, "i8[1,1] i8[4,1] i32[4] u8[1,4] i32[4] i32[4] u8[2] ");
  // (-3 + 200 * 2^2) / 2^2 = 199.25, (-3 + 200) / 2^2 = 49.25; shifts of residuals are 0 to 31; sums wrap around.
  EXPECT_EQ(Of(text, {{-3}, {1, 1, 1, 1}, {0, 0, 0, 4}, {200, 200, 200, 1}, {2, 0, -5, 99}, {2, 2, 2, 23}, {0, 255}}),
            Values({199, 49, 49, 0}));
}

TEST(Integers, AveragesAreRoundedOnceAndKeepTheZeroPoint) {
  const std::string pool = "avg_pool2d(u8[1,1,1,6], u8[1], kernel=1x2, stride=1x2";
  // Halves are ties: (-10 + -9) / 2, (3 + 4) / 2 and (5 + 6) / 2, plus 10.
  EXPECT_EQ(Of(pool + ")", {{0, 1, 13, 14, 15, 16}, {10}}), Values({0, 14, 16}));
  EXPECT_EQ(Of("avg_pool2d(i8[1,1,1,4], kernel=1x2, stride=1x2)", {{-1, 0, -3, 0}}), Values({0, -2}));
  // Padding is the zero point if it counts.
  EXPECT_EQ(Of(pool + ", pad=0,1,0,1)", {{40, 1, 1, 1, 1, 250}, {10}}), Values({40, 1, 1, 250}));
  EXPECT_EQ(Of(pool + ", pad=0,1,0,1, count_include_pad=1)", {{40, 1, 1, 1, 1, 250}, {10}}), Values({25, 1, 1, 130}));
  // A window between the elements has none.
  EXPECT_EQ(Of("avg_pool2d(u8[1,1,1,1], u8[1], kernel=1x2, dilation=1x2, pad=0,1,0,1)", {{200}, {7}}), Values({7}));
  EXPECT_EQ(Of("global_avg_pool(i8[1,2,1,2], i8[1])", {{-128, -128, 4, 7}, {1}}), Values({-128, 5}));
  EXPECT_EQ(InferOutput(Must(Workload::Parse("global_avg_pool(i8[1,2,1,2], i8[1])")))->Text(), "i8[1,2,1,1]");
  EXPECT_EQ(InferOutput(Must(Workload::Parse("avg_pool3d(u8[1,2,2,2,2], kernel=2)")))->Text(), "u8[1,2,1,1,1]");
}

TEST(Integers, AveragesThatMayLeave32BitsAreRefused) {
  EXPECT_EQ(Refusal("global_avg_pool(u8[1,1,8421504,1], u8[1])"), "");
  EXPECT_EQ(Refusal("global_avg_pool(u8[1,1,8421505,1], u8[1])"),
            "global_avg_pool: sums of 8421505 bytes may leave i32; at most 8421504 are possible");
  EXPECT_EQ(Refusal("avg_pool2d(i8[1,1,9000,1001], kernel=8421x1001)"),
            "avg_pool2d: sums of 8429421 bytes may leave i32; at most 8421504 are possible");
  EXPECT_EQ(Refusal("max_pool2d(i8[1,1,9000,1001], kernel=8421x1001)"), "");
  EXPECT_EQ(Refusal("avg_pool2d(u8[1,1,3,3], i8[1], kernel=2)"),
            "avg_pool2d: input 1 is i8[1]; the zero point is u8[1]");
  EXPECT_EQ(Refusal("avg_pool2d(u8[1,1,3,3], u8[2], kernel=2)"),
            "avg_pool2d: input 1 is u8[2]; the zero point is u8[1]");
  EXPECT_EQ(Refusal("avg_pool2d(f32[1,1,3,3], f32[1], kernel=2)"),
            "avg_pool2d: input 1 is f32[1]; zero points are for u8 and i8");
  EXPECT_EQ(Refusal("global_avg_pool(i32[1,1,3,3])"),
            "global_avg_pool: input 0 is i32[1,1,3,3]; f32, u8 and i8 are supported");
}

TEST(Integers, DequantiseTakesSumsAndAScaleForEachChannel) {
  EXPECT_EQ(Of("dequantise(i32[2,3], f32[3], i32[1])", {{1, 2, 3, -4, 5, 16777217}, {1, 0.5, 0.25}, {0}}),
            Values({1, 1, 0.75, -4, 2.5, 4194304}));
  EXPECT_EQ(Of("dequantise(u8[1,2,1,2], f32[2,1,1], u8[1])", {{10, 11, 12, 13}, {1, 2}, {10}}), Values({0, 1, 4, 6}));
  EXPECT_EQ(Refusal("dequantise(i32[2,3], f32[2], i32[1])"),
            "dequantise: takes i32[..], f32[1] and i32[1], not i32[2,3], f32[2] and i32[1]");
  EXPECT_EQ(Of("quantise(f32[2,2], f32[2,1], i8[2])", {{1, 2, 3, 4}, {1, 0.5}, {0, 10}}), Values({1, 12, 6, 18}));
  EXPECT_THAT(Refusal("quantise(f32[2,3], f32[4,2,3], i8[1])"), HasSubstr("takes f32[..], f32[1] and i8[1]"));
  EXPECT_THAT(Refusal("quantise(f32[2,3], f32[1], i32[1])"), HasSubstr("not u8[1] or i8[1]"));
}

TEST(Integers, RequantiseAddsByOneFma) {
  // 3 * 0.5 is 1.5, a tie, to even 2; -7 * 0.5 is -3.5, -4, below the least; plus 10.
  EXPECT_EQ(Of("requantise(u8[1,3], f32[1], u8[1], i8[1], i8[1], i8[1])", {{8, 0, 255}, {0.5}, {5}, {10}, {7}, {100}}),
            Values({12, 8, 100}));
  // The fma of AResidualIsAddedByOneFma: 12 * (1/3 in f32) - 3.5 is just above 0.5.
  const double third = static_cast<double>(1.0f / 3);
  EXPECT_EQ(Of("requantise(i8[1,1], f32[1], i8[1], u8[1,1], f32[1], u8[1], u8[1], u8[1], u8[1])",
               {{-7}, {0.5}, {0}, {14}, {third}, {2}, {0}, {0}, {255}}),
            Values({1}));
  EXPECT_THAT(Refusal("requantise(u8[1,3], f32[1], i8[1], u8[1], u8[1], u8[1])"),
              HasSubstr("takes bytes T[..], f32[1]"));
  EXPECT_THAT(Refusal("requantise(u8[1,3], f32[1], u8[1], u8[1], i8[1], u8[1])"), HasSubstr("once or twice"));
  EXPECT_THAT(Refusal("requantise(u8[1,3], f32[1], u8[1], u8[1,3], f32[1], u8[1], u8[1])"), HasSubstr("once or twice"));
}

TEST(Integers, RequantiseByPowersOfTwo) {
  const std::string one = "requantise(u8[1,4], i32[1], u8[1], i8[1], i8[1], i8[1])";
  // (x - 5) / 2, rounded with ties upwards: 1.5, -2.5, 125 and 0.5; plus 10.
  EXPECT_EQ(Of(one, {{8, 0, 255, 6}, {-1}, {5}, {10}, {7}, {100}}), Values({12, 8, 100, 11}));
  // 2^-13 of 255 is nothing, and so is any less; 2^8 is beyond all limits, and so is any more.
  EXPECT_EQ(Of(one, {{0, 255, 1, 128}, {-13}, {0}, {3}, {-128}, {127}}), Values({3, 3, 3, 3}));
  EXPECT_EQ(Of(one, {{0, 255, 1, 128}, {-99}, {0}, {3}, {-128}, {127}}), Values({3, 3, 3, 3}));
  EXPECT_EQ(Of(one, {{0, 255, 1, 2}, {99}, {1}, {3}, {-128}, {127}}), Values({-128, 127, 3, 127}));
  // Of two: 3 * 4 + -7 / 4 = 10.25, 0 + -2 / 4 = -0.5, 0 + 126 / 4 = 31.5.
  EXPECT_EQ(Of("requantise(i8[1,3], i32[1], i8[1], i8[1,3], i32[1], i8[1], i8[1], i8[1], i8[1])",
               {{3, 0, 0}, {2}, {0}, {-6, -1, 127}, {-2}, {1}, {0}, {-127}, {127}}),
            Values({10, 0, 32}));
  EXPECT_THAT(Refusal("requantise(i8[1,3], i32[1], i8[1], i8[1,3], f32[1], i8[1], i8[1], i8[1], i8[1])"),
              HasSubstr("or i32[1] for all f32[1]"));
  EXPECT_THAT(Refusal("requantise(i8[1,3], u8[1], i8[1], i8[1], i8[1], i8[1])"), HasSubstr("i32[1] for all f32[1]"));
}

TEST(Integers, RefusalsAreOneLineWithTheReason) {
  EXPECT_EQ(Refusal("dense(u8[1,2], u8[3,2])"), "dense: input 1 is u8[3,2]; the weights of u8 or i8 data are i8");
  EXPECT_EQ(Refusal("dense(i32[1,2], i8[3,2])"), "dense: input 0 is i32[1,2]; f32, u8 and i8 are supported");
  EXPECT_EQ(Refusal("dense(f32[1,2], f32[3,2], f32[1])"), "dense: input 0 is f32[1,2]; zero points are for u8 and i8");
  EXPECT_EQ(Refusal("dense(u8[1,2], i8[3,2], i8[1])"), "dense: input 2 is i8[1], not the data's zero point, u8[1]");
  EXPECT_EQ(Refusal("dense(u8[1,2], i8[3,2], u8[1], i8[2])"),
            "dense: input 3 is i8[2], not the zero points of the weights, i8[1] or one for each channel");
  EXPECT_EQ(Refusal("dense(u8[1,2], i8[3,2], u8[1], i8[1], i8[1])"), "dense: takes 2 to 4 tensors, not 5");
  const std::string only =
      "dense: after a sum of integers, only `bias` can follow, and `add(u8)` and `requant(u8)` or `shift(u8)` (or i8) "
      "as the last ones";
  EXPECT_EQ(Refusal("dense(u8[1,2], i8[3,2]) + relu"), only);
  EXPECT_EQ(Refusal("dense(u8[1,2], i8[3,2]) + requant(u8) + bias"), only);
  EXPECT_EQ(Refusal("dense(u8[1,2], i8[3,2]) + add(u8)"), only);
  EXPECT_EQ(Refusal("dense(u8[1,2], i8[3,2]) + shift(u8) + shift(u8)"), only);
  EXPECT_EQ(Refusal("dense(u8[1,2], i8[3,2]) + shift(u8) + requant(u8)"), only);
  EXPECT_EQ(Refusal("dense(u8[1,2], i8[3,2]) + add + shift(u8)"), only);
  EXPECT_EQ(Refusal("dense(u8[1,2], i8[3,2]) + add(u8) + bias + requant(u8)"), only);
  EXPECT_EQ(Refusal("dense(u8[1,2], i8[3,2]) + add + requant(u8)"), only);
  EXPECT_EQ(Refusal("dense(f32[1,2], f32[3,2]) + requant(u8)"), "dense: requant needs sums of integers");
  EXPECT_EQ(Refusal("dense(f32[1,2], f32[3,2]) + shift(u8)"), "dense: shift needs sums of integers");
  EXPECT_THAT(Refusal("dense(u8[1,2], i8[3,2]) + shift(i32)"), HasSubstr("expected u8 or i8"));
  EXPECT_THAT(Refusal("dense(u8[1,2], i8[3,2]) + shift"), HasSubstr("expected shift(u8) or shift(i8)"));
  EXPECT_EQ(Refusal("dense(f32[1,2], f32[3,2]) + add(i8)"), "dense: add(u8) needs sums of integers");
  EXPECT_THAT(Refusal("dense(u8[1,2], i8[3,2]) + requant(i32)"), HasSubstr("expected u8 or i8"));
  EXPECT_THAT(Refusal("dense(u8[1,2], i8[3,2]) + requant"), HasSubstr("expected requant(u8) or requant(i8)"));
  EXPECT_THAT(Refusal("conv2d(u8[1,8,3,3], i8[8,8,3,3], pad=1,1,1,1) + add"), HasSubstr("only `bias` can follow"));
  EXPECT_THAT(Refusal("relu(u8[1,8])"), HasSubstr("only f32 is supported"));
}

}  // namespace
}  // namespace hone::semantics
