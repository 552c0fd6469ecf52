// Compiled kernels of elementwise operators, and all kernels on unusual values: large, NaN, infinite, denormal.
#include "propose/propose.h"
#include "unit/op/kernel_fixture.h"

namespace hone::op {
namespace {

TEST_F(KernelTest, ElementwiseWithWhatFollows) {
  Check({"identity(f32[33])", "identity(f32[1,17,2,2]) + bias + clip(0.5,1)",
         "add(f32[1,33,7,5], f32[1,33,7,5]) + relu", "add(f32[7,13,3], f32[7,13,3]) + bias",
         "mul(f32[5,37], f32[5,37]) + bias + relu"});
}

// Each function on a plain tensor, on a blocked one with unused lanes, and on a scalar.
TEST_F(KernelTest, EveryScalarFunction) {
  std::vector<std::string> texts;
  for (const char* name :
       {"sqrt",       "log",  "abs",        "neg",     "reciprocal", "erf",      "floor",        "ceil",
        "round",      "sign", "sin",        "cos",     "tan",        "asin",     "acos",         "atan",
        "sinh",       "cosh", "asinh",      "acosh",   "atanh",      "softplus", "softsign",     "mish",
        "hard_swish", "gelu", "leaky_relu", "elu",     "celu",       "selu",     "hard_sigmoid", "thresholded_relu",
        "clip",       "relu", "relu6",      "sigmoid", "tanh",       "exp"}) {
    texts.push_back(std::string(name) + "(f32[3,37])");
    texts.push_back(std::string(name) + "(f32[1,17,2,3])");
    texts.push_back(std::string(name) + "(f32[])");
  }
  texts.insert(
      texts.end(),
      {"gelu(f32[200], approximate=1)", "leaky_relu(f32[50], alpha=0.3)", "elu(f32[50], alpha=2)",
       "celu(f32[50], alpha=0.5)", "selu(f32[50], alpha=1.5, gamma=2)", "hard_sigmoid(f32[50], alpha=0.5, beta=0.1)",
       "thresholded_relu(f32[50], alpha=0.2)", "clip(f32[1,5,2,2], low=0.25)", "clip(f32[33], low=-0.5, high=0.75)",
       "relu(f32[1,17,5,7], layout=plain)", "exp(f32[1,3,2,2,2], layout=plain)", "exp(f32[2,3,5,7])"});
  Check(texts);
}

TEST_F(KernelTest, BroadcastingOperators) {
  Check({
      "sub(f32[2,17,3,5], f32[2,17,3,5])",
      "div(f32[2,17,3,5], f32[17,1,1])",
      "max(f32[2,17,3,5], f32[1,17,1,1])",
      "min(f32[2,1,3,1], f32[1,17,1,5])",
      "mul(f32[2,17,3,5], f32[])",
      "add(f32[5], f32[2,17,3,5])",
      "add(f32[3,1], f32[2,33,3,5])",
      "sub(f32[1,1,3,5], f32[2,18,1,1])",
      "add(f32[1,16,3,5], f32[1,16,3,5]) + relu",
      "mul(f32[2,17,3,5], f32[17,1,1], layout=plain)",
      "pow(f32[4,1,5], f32[3,1])",
      "prelu(f32[2,17,3,5], f32[17,1,1])",
      "prelu(f32[7,9], f32[1])",
      "max(f32[6,1,3,1,5], f32[4,1,2,5])",
      "add(f32[2,3,4,1,2,3], f32[3,1,5,2,1])",
      "div(f32[], f32[])",
      "mul(f32[1,17,2,3,4], f32[1,17,1,1,1])",
  });
}

// Inputs of 10 and 1000 times the usual size, where series end and exponentials overflow.
TEST_F(KernelTest, ScalarFunctionsFarOut) {
  const Target target = HostWith(32, 16, 2);
  for (const char* name :
       {"sin",  "cos",  "atan", "asinh", "acosh", "sinh", "cosh",     "tanh", "exp",  "sigmoid",   "softplus",
        "mish", "gelu", "elu",  "erf",   "log",   "sqrt", "softsign", "celu", "selu", "hard_swish"}) {
    for (float scale : {0.001f, 10.0f, 60.0f, 1000.0f}) {
      SCOPED_TRACE(scale);
      CheckDefault(MakeReferenceCase(std::string(name) + "(f32[500])", target,
                                     [&](auto* x) {
                                       for (float& v : (*x)[0]) v *= scale;
                                     }),
                   target);
    }
  }
}

// A skipped tap is not multiplied: an infinite weight gives NaN nowhere, as 0 * infinity in a padded copy would.
TEST_F(KernelTest, SkippedTapsAreNotMultiplied) {
  const Target target = HostWith(32, 16, 2);
  const auto infinite_corner = [](auto* x) {
    for (size_t i = 0; i < (*x)[1].size(); i += 9) (*x)[1][i] = INFINITY;
    for (float& v : (*x)[0]) v = std::abs(v) + 1;
  };
  CheckDefault(MakeReferenceCase("conv2d(f32[1,16,14,14], f32[16,16,3,3], pad=12,12,12,12, dilation=12x12)", target,
                                 infinite_corner),
               target);
}

// min, max, relu, clip and similar ones pass on a NaN, as in numpy; infinities are numbers.
TEST_F(KernelTest, NanAndInfinityPass) {
  const Target target = HostWith(32, 16, 2);
  std::vector<std::string> texts = {"clip(f32[20], low=-1, high=1)", "max(f32[20], f32[20])", "min(f32[20], f32[20])",
                                    "identity(f32[20]) + relu6", "add(f32[20], f32[20]) + clip(-1,1)"};
  for (const char* name : {"relu", "relu6", "leaky_relu", "hard_sigmoid", "abs", "sign", "tanh", "sigmoid", "softplus",
                           "exp", "sin", "atan", "asinh", "sinh", "gelu"}) {
    texts.push_back(std::string(name) + "(f32[20])");
  }
  for (const std::string& text : texts) {
    const ReferenceCase c = MakeReferenceCase(text, target, [](auto* x) {
      (*x)[0][3] = NAN, (*x)[0][7] = INFINITY, (*x)[0][8] = -INFINITY, (*x)[0][17] = NAN;
      if (x->size() > 2) (*x)[1][5] = NAN, (*x)[1][7] = -INFINITY;
    });
    EXPECT_TRUE(std::isnan(c.reference[3]) && std::isnan(c.reference[17])) << text;
    CheckDefault(c, target);
  }
}

// Infinities in the data of operators that sum, compare and normalise; weights without zeros.
TEST_F(KernelTest, InfinitiesPass) {
  const Target target = HostWith(64, 32, 2);
  for (const char* text :
       {"max_pool2d(f32[1,16,5,5], kernel=3x3, pad=1,1,1,1)", "avg_pool2d(f32[1,16,5,5], kernel=3x3)",
        "max_pool3d(f32[1,16,3,5,5], kernel=3x3x3, pad=1,1,1,1,1,1)", "global_max_pool(f32[1,16,3,3])",
        "conv2d(f32[1,16,5,5], f32[16,16,3,3]) + bias + relu",
        "conv2d(f32[1,16,5,5], f32[16,1,3,3], groups=16) + relu6",
        "conv3d(f32[1,16,3,4,5], f32[16,16,1,3,3]) + bias + clip(-3,5)", "dense(f32[3,32], f32[48,32]) + bias + relu",
        "matmul(f32[5,16], f32[16,7])", "softmax(f32[3,20])", "log_softmax(f32[3,20])", "reduce_max(f32[4,20], axes=1)",
        "reduce_min(f32[4,20], axes=1)", "reduce_sum(f32[4,20], axes=1)", "min(f32[40], f32[40])",
        "pad(f32[3,40], low=1,2, high=0,3, value=-inf)"}) {
    // The first row or channel has one of each sign, the last elements only the negative one.
    const ReferenceCase c = MakeReferenceCase(text, target, [](auto* x) {
      std::vector<float>& data = (*x)[0];
      data[1] = INFINITY, data[3] = -INFINITY;
      std::fill(data.end() - 20, data.end(), -INFINITY);
    });
    CheckDefault(c, target);
  }
}

// Every output that depends on a NaN is NaN, wherever in a window or a row it is. The numbers of NaN outputs are
// counted by hand.
TEST_F(KernelTest, NanStaysInMaximaAndSums) {
  struct Row {
    const char* text;
    std::vector<size_t> at;  // stored elements of the data
    int64_t lost;            // outputs that depend on them
  };
  const std::vector<Row> rows = {
      // Stored by 16 channels. In the middle 9 windows see it, in the corner 4.
      {"max_pool2d(f32[1,16,5,5], kernel=3x3, pad=1,1,1,1)", {(2 * 5 + 2) * 16 + 3, 5}, 9 + 4},
      {"max_pool2d(f32[1,16,7,7], kernel=3x3, stride=2x2)", {7, (2 * 7 + 2) * 16 + 7, (6 * 7 + 6) * 16 + 7}, 1 + 3 + 1},
      {"max_pool2d(f32[1,16,4,4], kernel=2x2, stride=2x2)", {0, 16 + 1, 4 * 16 + 2, 5 * 16 + 3}, 4},
      // Windows too wide to unroll: columns 0 to 20 of 65 see column 0, in all three rows.
      {"max_pool2d(f32[1,16,3,64], kernel=3x40, pad=1,20,1,20)", {64 * 16}, 3 * 21},
      {"avg_pool2d(f32[1,16,5,5], kernel=3x3, pad=1,1,1,1)", {(2 * 5 + 2) * 16 + 3}, 9},
      {"max_pool3d(f32[1,16,3,5,5], kernel=3x3x3, pad=1,1,1,1,1,1)", {(25 + 2 * 5 + 2) * 16 + 3}, 27},
      {"global_max_pool(f32[1,16,3,3])", {5 * 16 + 2}, 1},
      {"global_max_pool(f32[2,3,40])", {0, 41, 79, 200}, 3},
      {"reduce_max(f32[4,20], axes=1)", {0, 25, 59}, 3},
      {"reduce_min(f32[4,20], axes=0)", {3, 24, 64}, 2},
      {"reduce_max(f32[40])", {39}, 1},
      {"softmax(f32[3,20])", {21}, 20},
      {"log_softmax(f32[3,20])", {59}, 20},
      {"reduce_log_sum_exp(f32[4,20], axes=1)", {7}, 1},
      // The convolution gives NaN at rows and columns 0 and 1 of all channels, and two pooled ones see these.
      {"conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1,1,1,1, in=blocked) + relu "
       "-> max_pool2d(f32[1,16,8,8], kernel=3x3, stride=2x2, pad=1,1,1,1)",
       {4},
       2 * 2 * 16},
  };
  const Target target = HostWith(64, 32, 2);
  for (const Row& row : rows) {
    const ReferenceCase c = MakeReferenceCase(row.text, target, [&](auto* x) {
      for (size_t at : row.at) (*x)[0][at] = NAN;
    });
    if (target.FloatLanes() == 16) {
      EXPECT_EQ(std::ranges::count_if(c.reference, [](float v) { return std::isnan(v); }), row.lost) << row.text;
    }
    CheckDefault(c, target);
  }
}

// Winograd mixes the inputs of a tile, so all of its outputs become NaN: those required by definition, and others.
TEST_F(KernelTest, WinogradLosesNoNan) {
  const Target target = HostWith(64, 32, 2);
  for (const char* text : {"conv2d(f32[1,16,16,16], f32[16,16,3,3], pad=1,1,1,1) + bias + relu",
                           "conv2d(f32[1,16,16,16], f32[16,16,3,3], pad=1,1,1,1) + relu "
                           "-> max_pool2d(f32[1,16,16,16], kernel=2x2, stride=2x2)"}) {
    SCOPED_TRACE(text);
    const ReferenceCase c = MakeReferenceCase(text, target, [](auto* x) { (*x)[0][0] = NAN; });
    int tried = 0;
    for (const propose::Proposer& p : Must(propose::AllProposers(c.workload, target))) {
      if (!p.name().starts_with("transformed_m")) continue;
      ++tried;
      const testing::KernelCase kernel = RunOnce(c, target, Must(p.Default(Must(p.MakeSpace()))), &pool_);
      int64_t nan = 0, missing = 0;
      for (size_t i = 0; i < c.reference.size(); ++i) {
        missing += std::isnan(c.reference[i]) && !std::isnan(kernel.output()[i]);
        nan += std::isnan(kernel.output()[i]);
      }
      EXPECT_EQ(missing, 0) << p.name();
      EXPECT_LT(nan, static_cast<int64_t>(c.reference.size()) / 2) << "no more than the tile at the corner";
    }
    EXPECT_GT(tried, 0);
  }
}

// Numbers below the smallest normal one are not flushed, neither as inputs nor as outputs.
TEST_F(KernelTest, DenormalsAreKept) {
  const Target target = HostWith(64, 32, 2);
  for (const char* text :
       {"identity(f32[40])", "relu(f32[1,16,3,3])", "clip(f32[40], low=-1, high=1)",
        "max_pool2d(f32[1,16,5,5], kernel=1x1)", "global_max_pool(f32[1,16,3,3])", "add(f32[40], f32[40])",
        "conv2d(f32[1,1,5,5], f32[16,1,1,1], in=nchw)", "conv2d(f32[1,16,5,5], f32[16,1,1,1], groups=16)",
        "dense(f32[3,1], f32[32,1])", "matmul(f32[5,1], f32[1,7])", "reduce_sum(f32[40], axes=0)"}) {
    SCOPED_TRACE(text);
    const bool sum = std::string(text).starts_with("add");
    const ReferenceCase c = MakeReferenceCase(text, target, [&](auto* x) {
      for (size_t k = 0; k + 1 < x->size(); ++k) {
        for (size_t i = 0; i < (*x)[k].size(); ++i) {
          (*x)[k][i] =
              k > 0 && !sum ? 1.0f : static_cast<float>(i % 100 + 1) * std::numeric_limits<float>::denorm_min();
        }
      }
    });
    const testing::KernelCase kernel = RunOnce(c, target, *propose::DefaultConfig(c.workload, target), &pool_);
    EXPECT_GT(*std::ranges::max_element(c.reference), 0.0f);
    EXPECT_LT(*std::ranges::max_element(c.reference), std::numeric_limits<float>::min());
    EXPECT_EQ(std::vector<float>(kernel.output(), kernel.output() + c.reference.size()), c.reference);
  }
}

}  // namespace
}  // namespace hone::op
