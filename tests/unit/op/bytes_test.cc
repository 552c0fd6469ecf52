// Kernels of bytes give the reference's bits on odd layers, for any point of their sketches, with the host's vectors
// and narrower ones. Inputs reach all values, so sums are as large as they can be.
#include <fmt/format.h>

#include "base/rng.h"
#include "common/emulator.h"
#include "measure/inputs.h"
#include "measure/reference.h"
#include "unit/op/kernel_fixture.h"

namespace hone::op {
namespace {

using fmt::format;

class Bytes : public KernelTest {
 protected:
  // `edit` changes the operands.
  void Run(const std::string& text, const Target& target, int points,
           const std::function<void(std::vector<TensorData>&)>& edit = {}) {
    const Workload w = Must(ParseChecked(text));
    const Operator& op = *Must(FindOperator(w));
    const std::vector<Operand> operands = op.Operands(w, target);
    std::vector<TensorData> values;
    std::vector<void*> pointers;
    for (const Operand& operand : operands) values.push_back(measure::MakeInput(operand));
    if (edit) edit(values);
    for (TensorData& v : values) pointers.push_back(v.bytes.data());
    op.Reference(w, target, pointers);
    const TensorData reference = values.back();
    std::fill(values.back().bytes.begin(), values.back().bytes.end(), 0x55);
    std::vector<std::string_view> bytes;
    for (const TensorData& v : values) bytes.push_back(v.view());
    const auto check = [&](const Config& config) {
      SCOPED_TRACE(text + "\n  " + config.Text() +
                   format(" vector={} threads={}", target.vector_bytes, target.threads));
      testing::KernelCase kernel = Must(testing::KernelCase::Create(w, target, config, &pool_));
      Must(kernel.Load(operands, bytes));
      for (int i = 0; i < 2; ++i) kernel.Run();
      EXPECT_TRUE(kernel.Intact()) << "something was written beside a buffer";
      EXPECT_EQ(kernel.output_bytes() == reference.view(), true)
          << measure::FirstDifference(operands.back(), kernel.output_bytes().data(), reference.bytes.data(), 0)
                 .value_or("");
      const Candidate candidate = Must(propose::Instantiate(w, target, config));
      tensorized_ += candidate.Text().find(" dot4") != std::string::npos;
      ++kernels_;
    };
    for (const propose::Proposer& p : Must(propose::AllProposers(w, target))) {
      const search::Space space = Must(p.MakeSpace());
      check(Must(p.Default(space)));
      Rng rng(std::hash<std::string>()(text));
      for (int i = 0; i < points && p.tuned(); ++i) check(space.At(space.SampleLegal(rng).value()));
    }
  }
  void RunAll(const std::vector<std::string>& texts, int points = 2) {
    int i = 0;
    for (const std::string& text : texts) {
      Run(text, HostWith(64, 32, 2 + i % 2), points);
      if (i++ % 3 == 0) Run(text, HostWith(16, 16, 3), 1);
    }
  }
  int kernels_ = 0, tensorized_ = 0;
};

const std::vector<int64_t> kChannels = {1, 3, 17, 33}, kExtents = {1, 2, 5, 7, 13};

// Zero points by turns, and what follows.
std::string Zeros(int turn, const char* type, int64_t out) {
  if (turn % 4 == 0) return "";
  const std::string weights = turn % 8 == 7 ? format(", i8[{}]", turn % 16 == 7 ? 1 : out) : "";
  return format(", {}[1]{}", type, weights);
}
std::string Epilogue(int turn) {
  const char* kEpilogues[] = {" + bias + requant(u8)",
                              " + requant(i8)",
                              "",
                              " + bias + shift(i8)",
                              " + bias + bias + requant(i8)",
                              " + bias",
                              " + bias + add(i8) + shift(u8)",
                              " + bias + add(u8) + requant(u8)",
                              " + add(i8) + requant(u8)",
                              " + shift(u8)",
                              " + add(u8) + shift(i8)"};
  return kEpilogues[turn % 11];
}

TEST_F(Bytes, ConvolutionsOfOddLayers) {
  std::vector<std::string> texts;
  int turn = 0;
  for (const int64_t c : kChannels) {
    for (const int64_t e : kExtents) {
      const char* type = turn % 3 == 2 ? "i8" : "u8";
      const int64_t out = kChannels[static_cast<size_t>(turn + 1) % 4], w = kExtents[static_cast<size_t>(turn * 2) % 5];
      const int64_t k = turn % 3 == 0 ? 1 : turn % 3 == 1 ? 3 : 5, s = 1 + turn % 2;
      const std::string layout = turn % 5 == 1   ? ", in=nchw"
                                 : turn % 5 == 2 ? ", layout=nhwc"
                                 : turn % 5 == 4 ? ", layout=plain"
                                                 : "";
      texts.push_back(format(
          "conv2d({0}[{1},{2},{3},{4}], i8[{5},{2},{6},{6}]{7}, stride={8}x{8}, pad={9},{10},{10},{9}{11}){12}", type,
          1 + turn % 2, c, e, w, out, k, Zeros(turn, type, out), s, k / 2, (k + 1) / 2, layout, Epilogue(turn)));
      ++turn;
    }
  }
  RunAll(texts);
  EXPECT_GT(tensorized_, kernels_ / 2);
}

// By single products, sdot, and usdot.
TEST_F(Bytes, OnAArch64) {
  if (const std::string why = CannotEmulate(); !why.empty()) GTEST_SKIP() << why;
  int turn = 0;
  for (const char* cpu : {"cortex-a53", "cortex-a76", "neoverse-v1"}) {
    for (const int64_t c : kChannels) {
      const char* type = turn % 2 == 0 ? "i8" : "u8";
      const int64_t out = kChannels[static_cast<size_t>(turn + 1) % 4];
      const int64_t k = turn % 3 == 0 ? 1 : 3;
      Run(format("conv2d({0}[1,{1},5,7], i8[{2},{1},{3},{3}]{4}, pad={5},{5},{6},{5}){7}", type, c, out, k,
                 Zeros(turn, type, out), k / 2, (k + 1) / 2, Epilogue(turn)),
          Arm(cpu, 1 + turn % 3), 1);
      Run(format("dense({0}[3,{1}], i8[{2},{1}]){3}", type, c, out, Epilogue(turn % 2)), Arm(cpu, 2), 1);
      ++turn;
    }
    Run("conv2d(u8[1,17,7,9], i8[17,1,3,3], u8[1], pad=1,1,1,1, groups=17) + bias + requant(u8)", Arm(cpu, 2), 1);
    Run("conv2d(u8[1,3,19,23], i8[17,3,7,7], u8[1], stride=2x2, pad=3,3,3,3, in=nchw) + requant(u8)", Arm(cpu, 2), 1);
  }
  EXPECT_GT(tensorized_, kernels_ / 3);
}

TEST_F(Bytes, GroupsAndVolumes) {
  std::vector<std::string> texts;
  int turn = 0;
  for (const int64_t c : {3, 17, 32}) {
    texts.push_back(format("conv2d(u8[1,{0},7,9], i8[{0},1,3,3]{1}, pad=1,1,1,1, groups={0}){2}", c,
                           Zeros(turn, "u8", c), Epilogue(turn)));
    ++turn;
    texts.push_back(format("conv2d(i8[2,{0},5,5], i8[{1},2,3,3]{2}, pad=1,1,1,1, groups={3}){4}", 2 * c, 3 * c,
                           Zeros(turn, "i8", 3 * c), c, Epilogue(turn)));
    ++turn;
    texts.push_back(format("conv3d(u8[1,{0},3,5,6], i8[9,{0},2,3,3]{1}, pad=0,1,1,1,1,1){2}", c, Zeros(turn, "u8", 9),
                           Epilogue(turn)));
    ++turn;
  }
  texts.emplace_back("conv2d(u8[1,6,7,9], i8[6,1,3,3], u8[1], pad=1,1,1,1, groups=6, in=nchw) + requant(u8)");
  RunAll(texts);
}

// Plain inputs: four taps of a row at once, or four channels if these are fewer products.
TEST_F(Bytes, PlainInputs) {
  const auto taps = [](const std::string& text) {
    const Workload w = Must(ParseChecked(text));
    const std::vector<propose::Proposer> all = Must(propose::AllProposers(w, HostWith(32, 16, 2)));
    const Config config = Must(all[0].Default(Must(all[0].MakeSpace())));
    const std::string steps = Must(propose::Instantiate(w, HostWith(32, 16, 2), config)).Text();
    return steps.find("kx.q dot4") != std::string::npos   ? "taps"
           : steps.find("ic.q dot4") != std::string::npos ? "channels"
                                                          : "single products";
  };
  const std::string first =
                        "conv2d(u8[1,3,19,23], i8[17,3,7,7], u8[1], stride=2x2, pad=3,3,3,3, in=nchw) + requant(u8)",
                    many = "conv2d(i8[1,8,9,9], i8[9,8,1,1], i8[1], in=nchw) + bias",
                    apart = "conv2d(u8[1,3,12,12], i8[8,3,3,3], u8[1], pad=2,2,2,2, dilation=2x2, in=nchw)";
  EXPECT_STREQ(taps(first), "taps");
  EXPECT_STREQ(taps(many), "channels");
  EXPECT_STREQ(taps(apart), "channels");
  RunAll({first, many, apart, "conv2d(i8[2,1,8,9], i8[17,1,3,5], i8[1], pad=1,2,1,2, in=nchw) + bias + requant(i8)",
          "conv2d(u8[1,2,7,13], i8[9,2,2,4], u8[1], i8[9], in=nchw)",
          "conv3d(u8[1,2,4,7,9], i8[9,2,3,3,3], u8[1], pad=1,1,1,1,1,1, stride=2x1x2, in=ncdhw) + requant(u8)"},
         4);
}

// Depthwise layers and those of small groups, by the rule `windows`.
TEST_F(Bytes, Depthwise) {
  std::vector<std::string> texts;
  int turn = 0;
  for (const char* window : {"3,3], pad=1,1,1,1", "3,3], pad=0,0,1,1, stride=2x2", "5,5], pad=2,2,2,2", "3,3]", "2,4]",
                             "1,1]", "3,3], pad=2,2,2,2, dilation=2x2"}) {
    for (const char* type : {"u8", "i8"}) {
      const int64_t c = kChannels[static_cast<size_t>(turn) % 4] + 8;
      const std::string text = window, zeros = Zeros(turn + 1, type, c);
      const size_t end = text.find(']') + 1;
      texts.push_back(format("conv2d({0}[{1},{2},{3},13], i8[{2},1,{4}{5}{6}, groups={2}){7}", type, 1 + turn % 2, c,
                             7 + turn % 3, text.substr(0, end), zeros, text.substr(end), Epilogue(turn)));
      ++turn;
    }
  }
  RunAll(texts);
}

TEST_F(Bytes, Dense) {
  std::vector<std::string> texts;
  int turn = 0;
  for (const int64_t n : {1, 5, 16}) {
    for (const int64_t k : {1, 17, 64, 132}) {
      const char* type = turn % 2 == 0 ? "u8" : "i8";
      const int64_t m = kChannels[static_cast<size_t>(turn) % 4] * 3;
      texts.push_back(
          format("dense({0}[{1},{2}], i8[{3},{2}]{4}){5}", type, n, k, m, Zeros(turn, type, m), Epilogue(turn)));
      ++turn;
    }
  }
  RunAll(texts);
}

// Operators that move bytes or find the largest, and those between bytes and floats.
TEST_F(Bytes, OtherOperators) {
  RunAll({"quantise(f32[2,17,5,3], f32[1], i8[1])",
          "quantise(f32[2,16,5,3], f32[1], u8[1])",
          "quantise(f32[3,50], f32[1], u8[1])",
          "dequantise(i8[2,17,5,3], f32[1], i8[1])",
          "dequantise(u8[3,50], f32[1], u8[1])",
          "dequantise(i32[3,50], f32[50], i32[1])",
          "quantise(f32[2,17,5,3], f32[17,1,1], u8[17,1,1])",
          "quantise(f32[2,17,5,3], f32[2,1,1,1], i8[3])",
          "requantise(u8[2,17,5,3], f32[1], u8[1], i8[1], i8[1], i8[1])",
          "requantise(u8[1,17,5,3], f32[1], u8[1], i8[1,17,5,3], f32[1], i8[1], u8[1], u8[1], u8[1])",
          "requantise(i8[3,50], f32[1], i8[1], i8[3,1], f32[1], i8[1], u8[1], u8[1], u8[1], layout=plain)",
          "requantise(u8[2,17,5,3], i32[1], u8[1], i8[1], i8[1], i8[1])",
          "requantise(u8[1,17,5,3], i32[1], u8[1], i8[1,17,5,3], i32[1], i8[1], u8[1], u8[1], u8[1])",
          "dequantise(i32[1,17,5,3], f32[17,1,1], i32[1])",
          "quantise(f32[2,17,5,3], f32[1], u8[1], layout=nhwc)",
          "max_pool2d(i8[1,17,14,13], kernel=3x3, stride=2x2, pad=1,1,1,1)",
          "max_pool2d(u8[2,8,5,6], kernel=2x2)",
          "max_pool2d(i8[1,9,3,3], kernel=2x2, dilation=5x5, pad=4,4,4,4)",
          "max_pool2d(i32[1,17,14,13], kernel=3x3, pad=1,1,1,1)",
          "max_pool2d(u8[1,17,7,7], kernel=3x3, stride=2x2, pad=1,1,1,1, layout=nhwc)",
          "global_max_pool(i8[1,17,7,6])",
          "max_pool3d(u8[1,3,4,5,6], kernel=2x2x2)",
          "concat(u8[1,17,4,4], u8[1,3,4,4])",
          "concat(i8[2,3], i8[4,3], axis=0)",
          "transpose(i8[1,17,4,4], perm=0,2,3,1)",
          "flatten(u8[2,17,4,4])",
          "pad2d(i8[1,17,4,4], pad=1,0,1,2)",
          "pad(u8[3,4], low=1,1, high=0,1, value=7)",
          "gather(i8[5,4], indices=1,3, shape=2)",
          "slice(u8[5,8], begin=0,2, end=5,8)",
          "reshape(i32[4,6], shape=8,3)",
          "expand(u8[1,4], shape=3,4)",
          "block(u8[1,17,3,3])",
          "unblock(i8[1,17,3,3])",
          "channels_last(i32[1,17,3,3])"});
}

// Averages of bytes, with and without a zero point, in all layouts and borders.
TEST_F(Bytes, Averages) {
  std::vector<std::string> texts;
  int turn = 0;
  for (const char* type : {"u8", "i8"}) {
    for (const char* layout : {"", ", layout=nhwc", ", layout=plain"}) {
      const std::string zero = turn % 3 == 2 ? "" : format(", {}[1]", type);
      for (const char* shape : {"[1,17,9,7]{}, kernel=3x3, pad=1,1,1,1", "[2,16,6,5]{}, kernel=2x3, stride=2x2",
                                "[1,3,8,8]{}, kernel=3x3, stride=2x2, pad=1,1,1,1, count_include_pad=1",
                                "[1,17,8,9]{}, kernel=13x11, pad=6,5,6,5, ceil_mode=1, stride=2x2",
                                "[1,9,3,3]{}, kernel=2x2, dilation=5x5, pad=4,4,4,4"}) {
        texts.push_back(format("avg_pool2d({}{}{})", type, format(fmt::runtime(shape), zero), layout));
      }
      texts.push_back(format("avg_pool3d({0}[1,5,4,6,5]{1}, kernel=2x3x2, pad=1,1,1,0,1,0{2})", type, zero, layout));
      texts.push_back(format("global_avg_pool({}[2,17,7,6]{}{})", type, zero, layout));
      ++turn;
    }
  }
  texts.emplace_back("global_avg_pool(u8[1,3,1000,1000], u8[1])");
  RunAll(texts);
}

// Groups of several members with bytes between them.
TEST_F(Bytes, Groups) {
  RunAll(
      {"conv2d(u8[1,16,8,8], i8[17,16,3,3], u8[1], pad=1,1,1,1) + bias + requant(u8) -> "
       "dequantise(u8[1,17,8,8], f32[1], u8[1])",
       "dequantise(u8[1,17,5,5], f32[1], u8[1]) -> relu(f32[1,17,5,5]) -> quantise(f32[1,17,5,5], f32[1], i8[1])",
       "dequantise(u8[4,33], f32[1], u8[1]) -> add(f32[4,33], f32[4,33]) -> quantise(f32[4,33], f32[1], u8[1])"});
  // The templates of such chains are for floats.
  const Workload pooled =
      Must(ParseChecked("conv2d(u8[1,16,8,8], i8[16,16,1,1]) + requant(u8) -> max_pool2d(u8[1,16,8,8], kernel=2x2)"));
  EXPECT_THAT(propose::AllProposers(pooled, HostWith(64, 32, 2)).status().message(), HasSubstr("no kernel for cpu"));
}

// Shifts by any number of bits of any sums, by a bias: nothing wraps around in the kernel.
TEST_F(Bytes, ShiftsAtTheEdgesOfTheirTypes) {
  const std::vector<double> sums = {
      2147483647, 2147483646, 1073741824,  1073741823,  65535,       128,          127,  3,
      2,          1,          0,           -1,          -2,          -3,           -127, -128,
      -129,       -65536,     -1073741824, -1073741825, -2147483647, -2147483648.0};
  const std::vector<double> shifts = {
      -2147483648.0, -33, -32, -31, -9, -8, -7, -1, 0, 1, 2, 3, 8, 15, 16, 24, 25, 30, 31, 32, 33, 2147483647};
  const size_t channels = sums.size() * shifts.size();
  const auto edit = [&](std::vector<TensorData>& operands) {
    std::ranges::fill(operands[1].as<int8_t>(), 0);
    for (size_t c = 0; c < channels; ++c) {
      operands[2].as<int32_t>()[c] = static_cast<int32_t>(sums[c / shifts.size()]);
      operands[3].as<int32_t>()[c] = static_cast<int32_t>(shifts[c % shifts.size()]);
    }
  };
  for (const char* type : {"u8", "i8"}) {
    const std::string text = format("dense(i8[2,1], i8[{},1]) + bias + shift({})", channels, type);
    for (const int vector : {16, 32, 64}) Run(text, HostWith(vector, 16, 2), 0, edit);
  }
}

TEST_F(Bytes, RequantiseByPowersOfTwo) {
  for (const int32_t x : {-2000000000, -14, -13, -5, -1, 0, 1, 8, 9, 2000000000}) {
    for (const int32_t y : {-14, -13, -2, 0, 3, 8}) {
      const auto edit = [&](std::vector<TensorData>& operands) {
        operands[1].as<int32_t>()[0] = x, operands[4].as<int32_t>()[0] = y;
      };
      Run("requantise(u8[3,400], i32[1], u8[1], i8[3,400], i32[1], i8[1], i8[1], i8[1], i8[1])", HostWith(32, 16, 2), 0,
          edit);
    }
  }
}

// A layer whose reduction is as long as it may be: no sum leaves i32.
TEST_F(Bytes, TheLongestSum) {
  RunAll({"dense(u8[1,65792], i8[9,65792])"}, 1);
  EXPECT_THAT(ParseChecked("dense(u8[1,65796], i8[9,65796])").status().message(),
              HasSubstr("dense: sums of 65796 products of bytes may leave i32; at most 65793 are possible"));
}

TEST(BytesOnGpus, AreRefused) {
  const Target cuda = Must(Target::Parse("cuda -arch=sm_80"));
  const Workload w = Must(ParseChecked("conv2d(u8[1,16,7,7], i8[16,16,1,1])"));
  EXPECT_EQ(propose::AllProposers(w, cuda).status().message(),
            "conv2d: data is u8[1,16,7,7]; integers are for CPUs only");
}

}  // namespace
}  // namespace hone::op
