// Compiled kernels against the operators' references: odd shapes x the default and some random legal points. The
// reference is independent of te, schedules and code generation (loops over plain indices in double precision).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "op/operator.h"
#include "unit/op/kernel_case.h"

namespace hone::op {
namespace {

struct Machine {
  Target target;
  runtime::ThreadPool pool;
};

Target HostWith(int vector_bytes, int registers, int threads) {
  Result<Target> host = HostTarget();
  EXPECT_TRUE(host.ok()) << host.status().message();
  Target target = *host;
  if (vector_bytes < target.vector_bytes) {
    target.vector_bytes = vector_bytes;
    target.vector_registers = registers;
  }
  target.threads = threads;
  return target;
}

// How many numbers are summed up for one output: errors grow with it.
double ReductionLength(const Workload& w) {
  if (w.op == "conv2d") return static_cast<double>(w.inputs[1].Elements() / w.inputs[1].shape[0]);
  if (w.op == "conv3d") return static_cast<double>(w.inputs[1].Elements() / w.inputs[1].shape[0]);
  if (w.op == "dense") return static_cast<double>(w.inputs[1].shape[1]);
  if (w.op == "global_avg_pool") return static_cast<double>(w.inputs[0].shape[2] * w.inputs[0].shape[3]);
  if (w.op == "softmax") return static_cast<double>(w.inputs[0].shape[1]);
  return 16;
}

std::string Describe(const Operand& out, size_t at) {
  std::string text = "[";
  int64_t rest = static_cast<int64_t>(at);
  std::vector<int64_t> index(out.physical.size());
  for (size_t i = out.physical.size(); i-- > 0;) index[i] = rest % out.physical[i], rest /= out.physical[i];
  for (int64_t i : index) text += std::to_string(i) + " ";
  return text + "] of " + std::to_string(out.PhysicalElements());
}

void CheckConfig(const Workload& w, const Target& target, const Config& config, runtime::ThreadPool* pool,
                 testing::OperandData* data, const std::vector<float>& reference) {
  SCOPED_TRACE(w.Text() + "\n  " + config.Text() + " vector=" + std::to_string(target.vector_bytes));
  Result<testing::KernelCase> kernel = testing::KernelCase::Create(w, target, config, pool);
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  Status loaded = kernel->Load(*data);
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  kernel->Run();
  kernel->Run();  // a second run must not depend on what the first one left behind
  testing::Difference d = testing::Compare(reference, kernel->output());
  const Operand& out = data->operands.back();
  double bound = 4e-7 * (4 + std::sqrt(ReductionLength(w))) + kernel->compiled().rounding;
  EXPECT_LE(d.worst, bound) << "at " << Describe(out, d.at) << ": " << kernel->output()[d.at] << " for "
                            << reference[d.at];
  if (out.layout != Layout::kBlocked) return;
  int64_t channels = out.logical.shape[1], lanes = out.physical.back(), blocks = out.physical[1];
  int64_t inner = out.PhysicalElements() / (out.physical[0] * blocks);
  for (int64_t i = 0; i < out.PhysicalElements(); ++i) {
    int64_t c = i / inner % blocks * lanes + i % lanes;
    if (c < channels) continue;
    ASSERT_EQ(kernel->output()[i], 0.0f) << "unused lane at " << Describe(out, i);
  }
}

void CheckWorkload(const std::string& text, const Target& target, runtime::ThreadPool* pool, int random_points) {
  SCOPED_TRACE(text);
  Result<Workload> w = ParseChecked(text);
  ASSERT_TRUE(w.ok()) << w.status().message();
  const Operator* op = *FindOperator(*w);
  Result<testing::OperandData> data = testing::MakeOperandData(*w, target, 11);
  ASSERT_TRUE(data.ok());
  op->Reference(*w, target, data->Pointers());
  std::vector<float> reference = data->values.back();
  std::fill(data->values.back().begin(), data->values.back().end(), NAN);

  Result<search::TaskSpace> space = MakeTaskSpace(*w, target);
  ASSERT_TRUE(space.ok()) << space.status().message();
  Result<Config> config = DefaultConfig(*w, target);
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_FALSE(space->Reject(config->index).has_value());
  CheckConfig(*w, target, *config, pool, &*data, reference);
  Rng rng(std::hash<std::string>()(text));
  for (int i = 0; i < random_points && op->Tunable(*w); ++i) {
    std::optional<uint64_t> index = space->SampleLegal(rng);
    ASSERT_TRUE(index.has_value());
    if (*index == config->index) continue;
    CheckConfig(*w, target, space->At(*index), pool, &*data, reference);
  }
}

class KernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<runtime::ThreadPool> pool = runtime::ThreadPool::Create(3, false);
    ASSERT_TRUE(pool.ok()) << pool.status().message();
    pool_.push_back(*std::move(pool));
  }
  // On the host's own vectors, and on 32-byte ones with half the registers.
  void Check(const std::vector<std::string>& texts, int random_points = 3) {
    int i = 0;
    for (const std::string& text : texts) {
      CheckWorkload(text, HostWith(64, 32, 2 + i % 2), &pool_[0], random_points);
      if (i++ % 4 == 0) CheckWorkload(text, HostWith(32, 16, 3), &pool_[0], 1);
    }
  }
  std::vector<runtime::ThreadPool> pool_;
};

TEST_F(KernelTest, ConvolutionsOfOddShapes) {
  Check({
      "conv2d(f32[1,1,1,1], f32[1,1,1,1])",
      "conv2d(f32[1,3,5,7], f32[17,3,3,3], pad=1,1,1,1) + bias + relu",
      "conv2d(f32[1,17,7,13], f32[33,17,3,3], pad=1,1,1,1) + bias + add + relu",
      "conv2d(f32[3,33,13,5], f32[16,33,3,3], stride=2x2, pad=1,1,1,1) + bias",
      "conv2d(f32[1,16,7,7], f32[80,16,1,1]) + bias + clip(0.25,1)",
      "conv2d(f32[3,17,7,5], f32[3,17,1,1], stride=2x2)",
      "conv2d(f32[1,33,13,7], f32[17,33,3,2], stride=2x1, pad=0,1,2,0) + relu6",
      "conv2d(f32[1,32,13,13], f32[32,32,3,3], pad=2,2,2,2, dilation=2x2) + bias + relu",
      "conv2d(f32[1,16,1,13], f32[48,16,1,7], pad=0,3,0,3) + bias + relu",
      "conv2d(f32[1,16,2,2], f32[33,16,3,3], pad=1,1,1,1) + add",
      "conv2d(f32[1,17,5,29], f32[16,17,5,5], pad=4,4,4,4) + clip(-1,1)",
      "conv2d(f32[2,16,14,14], f32[64,16,3,3], pad=1,1,1,1) + bias + add + relu",
      "conv2d(f32[1,128,7,7], f32[128,128,3,3], pad=1,1,1,1) + bias + relu",
      "conv2d(f32[1,16,9,9], f32[16,16,2,2], stride=3x3)",
  });
}

TEST_F(KernelTest, FirstLayersFromPlainInput) {
  Check({
      "conv2d(f32[1,3,13,29], f32[17,3,7,7], stride=2x2, pad=3,3,3,3, in=nchw) + bias + relu",
      "conv2d(f32[3,1,7,7], f32[16,1,3,3], in=nchw)",
      "conv2d(f32[1,3,32,32], f32[32,3,3,3], stride=2x2, pad=0,0,1,1, in=nchw) + bias + relu6",
      "conv2d(f32[1,17,5,5], f32[33,17,1,1], in=nchw) + relu",
  });
}

// A task's weights meet several images, or several depths, or both.
TEST_F(KernelTest, ManyPlanes) {
  Check(
      {
          "conv2d(f32[4,64,7,7], f32[64,64,3,3], pad=1,1,1,1) + bias + add + relu",
          "conv2d(f32[6,256,7,7], f32[256,256,1,1]) + bias + add",
          "conv2d(f32[3,200,5,3], f32[208,200,1,1], stride=2x2) + bias + relu",
          "conv2d(f32[16,200,2,2], f32[200,200,1,1])",
          "conv2d(f32[4,64,7,7], f32[128,32,3,3], pad=1,1,1,1, groups=2) + bias",
          "conv3d(f32[2,32,4,5,5], f32[48,32,3,3,3], pad=1,1,1,1,1,1) + bias + add + relu",
          "conv3d(f32[1,200,4,3,3], f32[200,200,1,1,1]) + bias",
      },
      8);
}

TEST_F(KernelTest, GroupsOfFewChannels) {
  Check(
      {
          "conv2d(f32[1,64,9,11], f32[64,4,3,3], pad=1,1,1,1, groups=16) + bias + relu",
          "conv2d(f32[3,40,7,5], f32[40,8,3,3], pad=0,1,1,0, groups=5) + bias + clip(0.5,1)",
          "conv2d(f32[1,34,7,9], f32[34,2,3,3], stride=2x2, pad=1,1,1,1, groups=17) + add",
          "conv2d(f32[1,32,5,7], f32[32,8,1,1], groups=4)",
          "conv2d(f32[1,16,12,12], f32[16,4,3,3], pad=2,2,2,2, dilation=2x2, groups=4) + relu",
          "conv2d(f32[1,68,2,1], f32[68,4,3,3], pad=1,1,1,1, groups=17)",
          "conv2d(f32[1,20,6,7], f32[40,1,3,3], stride=3x2, pad=1,1,1,1, groups=20) + bias",
          "conv2d(f32[2,57,6,37], f32[38,3,3,3], stride=2x2, pad=1,1,2,1, dilation=1x2, groups=19) + bias",
          "conv3d(f32[1,32,3,5,5], f32[32,4,3,3,3], pad=1,1,1,1,1,1, groups=8) + bias + relu",
          "conv3d(f32[1,38,3,5,7], f32[57,2,2,3,3], stride=1x2x2, pad=1,1,1,0,1,1, groups=19) + bias",
      },
      4);
}

TEST_F(KernelTest, GroupsAndDepthwise) {
  Check({
      "conv2d(f32[1,32,7,7], f32[64,16,3,3], pad=1,1,1,1, groups=2) + bias + relu",
      "conv2d(f32[1,64,5,5], f32[32,16,1,1], groups=4)",
      "conv2d(f32[1,33,13,13], f32[33,1,3,3], pad=1,1,1,1, groups=33) + bias + relu6",
      "conv2d(f32[3,17,7,5], f32[17,1,3,3], stride=2x2, pad=0,1,1,0, groups=17) + bias + add",
      "conv2d(f32[1,16,9,9], f32[16,1,5,5], pad=2,2,2,2, groups=16) + clip(0.5,1)",
      "conv2d(f32[1,6,7,7], f32[4,3,3,3], pad=1,1,1,1, groups=2) + bias + relu",
      "conv2d(f32[1,17,5,7], f32[34,1,3,3], stride=2x2, pad=1,0,1,2, groups=17) + clip(1,2)",
      "conv2d(f32[1,4,7,7], f32[4,2,3,3], groups=2, in=nchw) + relu",
      "conv2d(f32[1,64,7,5], f32[64,4,3,3], pad=1,1,1,1, groups=16) + bias + relu",
      "conv2d(f32[2,32,5,5], f32[64,8,1,1], groups=4) + bias",
      "conv2d(f32[1,34,7,7], f32[51,2,3,3], pad=1,1,1,1, groups=17) + bias",
      "conv2d(f32[1,16,13,13], f32[16,1,5,5], stride=2x2, pad=2,1,1,2, groups=16) + bias + relu6",
      "conv2d(f32[1,17,29,61], f32[17,1,3,3], pad=1,1,1,1, groups=17) + bias + relu6",
      "conv2d(f32[1,16,2,1], f32[16,1,3,3], pad=1,1,1,1, groups=16)",
      "conv2d(f32[1,16,14,14], f32[16,1,3,3], pad=2,2,2,2, dilation=2x2, groups=16) + relu",
  });
}

TEST_F(KernelTest, VolumeConvolutions) {
  Check({
      "conv3d(f32[1,1,1,1,1], f32[1,1,1,1,1])",
      "conv3d(f32[1,16,4,9,14], f32[32,16,3,3,3], pad=1,1,1,1,1,1) + bias + relu",
      "conv3d(f32[2,17,3,5,7], f32[33,17,3,3,3], pad=1,1,1,1,1,1) + bias + add + relu",
      "conv3d(f32[1,33,5,7,5], f32[16,33,3,3,3], stride=2x2x2, pad=1,1,1,1,1,1) + bias",
      "conv3d(f32[1,16,4,6,6], f32[32,16,1,1,1], stride=2x2x2)",
      "conv3d(f32[1,3,4,13,15], f32[17,3,3,7,7], stride=1x2x2, pad=1,3,3,1,3,3, in=ncdhw) + bias + relu",
      "conv3d(f32[1,17,5,7,6], f32[3,17,2,1,3], pad=1,0,2,0,0,1, dilation=2x1x2) + clip(0.5,1)",
      "conv3d(f32[1,6,3,5,5], f32[4,3,3,3,3], pad=1,1,1,1,1,1, groups=2) + bias + relu",
      "conv3d(f32[1,3,3,5,5], f32[3,1,2,2,2], groups=3, in=ncdhw)",
      "conv3d(f32[1,17,3,4,5], f32[20,17,1,1,1]) + bias + relu",
      "conv3d(f32[1,33,4,2,3], f32[16,33,3,1,1], pad=1,0,0,1,0,0)",
  });
}

TEST_F(KernelTest, VolumePooling) {
  Check({
      "max_pool3d(f32[1,17,5,7,9], kernel=3x3x3, stride=2x2x2, pad=1,1,1,1,1,1)",
      "max_pool3d(f32[2,3,1,5,7], kernel=1x2x2, stride=1x2x2, ceil_mode=1)",
      "max_pool3d(f32[1,5,6,7,8], kernel=2x2x2, dilation=2x3x1)",
      "avg_pool3d(f32[1,33,4,5,6], kernel=3x2x3, pad=1,0,1,1,1,1)",
      "avg_pool3d(f32[1,16,4,5,6], kernel=3x3x3, stride=2x2x2, pad=1,1,1,1,1,1, count_include_pad=1)",
      "avg_pool3d(f32[1,4,5,5,5], kernel=2x2x2, stride=2x2x2, pad=1,0,1,0,1,0, dilation=1x2x1, ceil_mode=1)",
      "block(f32[1,3,2,7,5])",
      "unblock(f32[2,17,3,5,2])",
      "flatten(f32[2,33,1,1,1])",
      "flatten(f32[2,17,2,3,2])",
      "relu(f32[1,17,3,2,5])",
  });
}

// Channels 1, 3, 17, 33 by extents 1, 2, 5, 7, 13, with what else makes layers odd in turn: another width, stride 2,
// padding on one side, batch 3.
TEST_F(KernelTest, AGridOfOddLayers) {
  const int channels[] = {1, 3, 17, 33}, extents[] = {1, 2, 5, 7, 13};
  std::vector<std::string> texts;
  for (int c = 0; c < 4; ++c) {
    for (int e = 0; e < 5; ++e) {
      const int n = (c + e) % 3 == 0 ? 3 : 1, in = channels[c], out = channels[(c + e) % 4];
      const int h = extents[e], w = extents[(e + 2 * c) % 5], stride = 1 + (c + e) % 2;
      const std::string data = fmt::format("f32[{},{},{},{}]", n, in, h, w);
      const std::string rest = fmt::format("stride={0}x{0}, pad={1},1,1,{2}", stride, e % 2 ? 2 : 1, 1 + c % 2);
      texts.push_back(fmt::format("conv2d({}, f32[{},{},3,3], {}) + bias + relu", data, out, in, rest));
      texts.push_back(fmt::format("conv2d({}, f32[{},{},1,1], stride={}x{}) + bias", data, out, in, stride, stride));
      if (in > 1) texts.push_back(fmt::format("conv2d({}, f32[{},1,3,3], {}, groups={})", data, in, rest, in));
      texts.push_back(fmt::format("{}_pool2d({}, kernel=3x3, {})", e % 2 ? "avg" : "max", data, rest));
    }
  }
  Check(texts, 1);
}

TEST_F(KernelTest, Dense) {
  Check(
      {
          "dense(f32[1,512], f32[1000,512]) + bias",
          "dense(f32[1,1], f32[1,1])",
          "dense(f32[3,17], f32[33,17]) + bias + relu",
          "dense(f32[13,64], f32[7,64]) + add",
          "dense(f32[13,100], f32[70,100]) + bias",
          "dense(f32[5,33], f32[80,33]) + bias + clip(0.1,0.5)",
          "dense(f32[6,520], f32[520,520]) + bias + add + relu",
      },
      4);
}

TEST_F(KernelTest, Pooling) {
  Check({
      "max_pool2d(f32[1,64,23,23], kernel=3x3, stride=2x2, pad=1,1,1,1)",
      "max_pool2d(f32[3,17,7,5], kernel=2x2, stride=2x2)",
      "max_pool2d(f32[1,3,13,7], kernel=3x3, stride=2x2, ceil_mode=1)",
      "max_pool2d(f32[1,16,1,1], kernel=3x3, pad=1,1,1,1)",
      "avg_pool2d(f32[1,33,13,13], kernel=3x3, pad=1,1,1,1)",
      "avg_pool2d(f32[1,17,8,8], kernel=3x3, stride=2x2, pad=1,1,1,1, count_include_pad=1)",
      "avg_pool2d(f32[2,16,7,7], kernel=2x3, stride=2x2, pad=0,1,1,2, ceil_mode=1, count_include_pad=1)",
      "avg_pool2d(f32[1,16,7,7], kernel=2x2, stride=2x2, ceil_mode=1)",
      "avg_pool2d(f32[1,16,35,35], kernel=3x3, pad=1,1,1,1, count_include_pad=1)",
      "avg_pool2d(f32[1,16,33,41], kernel=31x31, pad=15,15,15,15)",
      "max_pool2d(f32[1,16,40,33], kernel=25x25, stride=3x3, pad=12,12,12,12)",
      "max_pool2d(f32[1,17,56,57], kernel=5x5, pad=2,2,2,2)",
      "max_pool2d(f32[1,17,9,9], kernel=3x3, pad=2,1,2,1, dilation=2x2)",
      "avg_pool2d(f32[1,5,9,8], kernel=3x2, stride=2x1, pad=2,1,1,2, dilation=2x3)",
      "avg_pool2d(f32[1,5,9,8], kernel=2x2, pad=1,1,1,1, dilation=2x2, count_include_pad=1, ceil_mode=1, stride=3x3)",
      "global_avg_pool(f32[1,512,7,7])",
      "global_avg_pool(f32[3,17,5,3])",
  });
}

TEST_F(KernelTest, ElementwiseAndSoftmax) {
  Check({
      "relu(f32[1,17,5,7])",
      "relu6(f32[3,33])",
      "sigmoid(f32[1,17,3,3])",
      "tanh(f32[1,100])",
      "exp(f32[2,3,5,7])",
      "identity(f32[1,17,2,2]) + bias + clip(0.5,1)",
      "add(f32[1,33,7,5], f32[1,33,7,5]) + relu",
      "add(f32[7,13,3], f32[7,13,3]) + bias",
      "mul(f32[5,37], f32[5,37]) + bias + relu",
      "identity(f32[33])",
      "softmax(f32[1,1000])",
      "softmax(f32[3,17])",
      "softmax(f32[2,1])",
      "softmax(f32[5,48])",
  });
}

// Each function on a plain tensor, on a blocked one with unused lanes, and on a scalar.
TEST_F(KernelTest, EveryScalarFunction) {
  std::vector<std::string> texts;
  for (const char* name :
       {"sqrt",       "log",  "abs",        "neg",    "reciprocal", "erf",      "floor",        "ceil",
        "round",      "sign", "sin",        "cos",    "tan",        "asin",     "acos",         "atan",
        "sinh",       "cosh", "asinh",      "acosh",  "atanh",      "softplus", "softsign",     "mish",
        "hard_swish", "gelu", "leaky_relu", "elu",    "celu",       "selu",     "hard_sigmoid", "thresholded_relu",
        "clip",       "relu", "relu6",      "sigmoid"}) {
    texts.push_back(std::string(name) + "(f32[3,37])");
    texts.push_back(std::string(name) + "(f32[1,17,2,3])");
    texts.push_back(std::string(name) + "(f32[])");
  }
  texts.insert(texts.end(), {"gelu(f32[200], approximate=1)", "leaky_relu(f32[50], alpha=0.3)", "elu(f32[50], alpha=2)",
                             "celu(f32[50], alpha=0.5)", "selu(f32[50], alpha=1.5, gamma=2)",
                             "hard_sigmoid(f32[50], alpha=0.5, beta=0.1)", "thresholded_relu(f32[50], alpha=0.2)",
                             "clip(f32[1,5,2,2], low=0.25)", "clip(f32[33], low=-0.5, high=0.75)",
                             "relu(f32[1,17,5,7], layout=plain)", "exp(f32[1,3,2,2,2], layout=plain)"});
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

// Inputs of 10 and 1000 times the usual size, where series end and exponentials run over.
TEST_F(KernelTest, ScalarFunctionsFarOut) {
  for (const char* name :
       {"sin",  "cos",  "atan", "asinh", "acosh", "sinh", "cosh",     "tanh", "exp",  "sigmoid",   "softplus",
        "mish", "gelu", "elu",  "erf",   "log",   "sqrt", "softsign", "celu", "selu", "hard_swish"}) {
    for (double scale : {0.001, 10.0, 60.0, 1000.0}) {
      SCOPED_TRACE(std::string(name) + " * " + std::to_string(scale));
      Result<Workload> w = ParseChecked(std::string(name) + "(f32[500])");
      ASSERT_TRUE(w.ok());
      Target target = HostWith(32, 16, 2);
      Result<testing::OperandData> data = testing::MakeOperandData(*w, target, 5);
      ASSERT_TRUE(data.ok());
      for (float& x : data->values[0]) x = static_cast<float>(x * scale);
      (*FindOperator(*w))->Reference(*w, target, data->Pointers());
      CheckConfig(*w, target, *DefaultConfig(*w, target), &pool_[0], &*data, std::vector<float>(data->values.back()));
    }
  }
}

// min, max, relu, clip and their like let a NaN through, as numpy's do; infinities are numbers.
TEST_F(KernelTest, NanAndInfinityPass) {
  for (const char* text : {"relu(f32[20])",
                           "relu6(f32[20])",
                           "clip(f32[20], low=-1, high=1)",
                           "max(f32[20], f32[20])",
                           "min(f32[20], f32[20])",
                           "leaky_relu(f32[20])",
                           "hard_sigmoid(f32[20])",
                           "abs(f32[20])",
                           "sign(f32[20])",
                           "tanh(f32[20])",
                           "sigmoid(f32[20])",
                           "softplus(f32[20])",
                           "exp(f32[20])",
                           "identity(f32[20]) + relu6",
                           "add(f32[20], f32[20]) + clip(-1,1)",
                           "sin(f32[20])",
                           "atan(f32[20])",
                           "asinh(f32[20])",
                           "sinh(f32[20])",
                           "gelu(f32[20])"}) {
    SCOPED_TRACE(text);
    Result<Workload> w = ParseChecked(text);
    ASSERT_TRUE(w.ok());
    Target target = HostWith(32, 16, 2);
    Result<testing::OperandData> data = testing::MakeOperandData(*w, target, 3);
    ASSERT_TRUE(data.ok());
    data->values[0][3] = NAN, data->values[0][7] = INFINITY, data->values[0][8] = -INFINITY, data->values[0][17] = NAN;
    if (data->values.size() > 2) data->values[1][5] = NAN, data->values[1][7] = -INFINITY;
    (*FindOperator(*w))->Reference(*w, target, data->Pointers());
    std::vector<float> reference = data->values.back();
    EXPECT_TRUE(std::isnan(reference[3]) && std::isnan(reference[17]));
    CheckConfig(*w, target, *DefaultConfig(*w, target), &pool_[0], &*data, reference);
  }
}

// Infinities in the data of what sums, compares and normalises; weights without zeros.
TEST_F(KernelTest, InfinitiesPass) {
  for (const char* text :
       {"max_pool2d(f32[1,16,5,5], kernel=3x3, pad=1,1,1,1)", "avg_pool2d(f32[1,16,5,5], kernel=3x3)",
        "max_pool3d(f32[1,16,3,5,5], kernel=3x3x3, pad=1,1,1,1,1,1)", "global_max_pool(f32[1,16,3,3])",
        "conv2d(f32[1,16,5,5], f32[16,16,3,3]) + bias + relu",
        "conv2d(f32[1,16,5,5], f32[16,1,3,3], groups=16) + relu6",
        "conv3d(f32[1,16,3,4,5], f32[16,16,1,3,3]) + bias + clip(-3,5)", "dense(f32[3,32], f32[48,32]) + bias + relu",
        "matmul(f32[5,16], f32[16,7])", "softmax(f32[3,20])", "log_softmax(f32[3,20])", "reduce_max(f32[4,20], axes=1)",
        "reduce_min(f32[4,20], axes=1)", "reduce_sum(f32[4,20], axes=1)", "min(f32[40], f32[40])"}) {
    SCOPED_TRACE(text);
    Result<Workload> w = ParseChecked(text);
    ASSERT_TRUE(w.ok()) << w.status().message();
    Target target = HostWith(64, 32, 2);
    Result<testing::OperandData> data = testing::MakeOperandData(*w, target, 3);
    ASSERT_TRUE(data.ok());
    // The first row or channel meets one of each sign, the last elements only the negative one.
    std::vector<float>& x = data->values[0];
    x[1] = INFINITY, x[3] = -INFINITY;
    for (size_t i = x.size() - 20; i < x.size(); ++i) x[i] = -INFINITY;
    (*FindOperator(*w))->Reference(*w, target, data->Pointers());
    const std::vector<float> reference = data->values.back();
    CheckConfig(*w, target, *DefaultConfig(*w, target), &pool_[0], &*data, reference);
  }
}

// Numbers below the smallest normal one are neither flushed on the way in nor on the way out.
TEST_F(KernelTest, DenormalsAreKept) {
  for (const char* text :
       {"identity(f32[40])", "relu(f32[1,16,3,3])", "clip(f32[40], low=-1, high=1)",
        "max_pool2d(f32[1,16,5,5], kernel=1x1)", "global_max_pool(f32[1,16,3,3])", "add(f32[40], f32[40])",
        "conv2d(f32[1,1,5,5], f32[16,1,1,1], in=nchw)", "conv2d(f32[1,16,5,5], f32[16,1,1,1], groups=16)",
        "dense(f32[3,1], f32[32,1])", "matmul(f32[5,1], f32[1,7])", "reduce_sum(f32[40], axes=0)"}) {
    SCOPED_TRACE(text);
    Result<Workload> w = ParseChecked(text);
    ASSERT_TRUE(w.ok()) << w.status().message();
    Target target = HostWith(64, 32, 2);
    Result<testing::OperandData> data = testing::MakeOperandData(*w, target, 3);
    ASSERT_TRUE(data.ok());
    const float least = std::numeric_limits<float>::denorm_min();
    const bool sum = w->op == "add";
    for (size_t k = 0; k + 1 < data->values.size(); ++k) {
      for (size_t i = 0; i < data->values[k].size(); ++i) {
        data->values[k][i] = k > 0 && !sum ? 1.0f : static_cast<float>(i % 100 + 1) * least;
      }
    }
    (*FindOperator(*w))->Reference(*w, target, data->Pointers());
    const std::vector<float> reference = data->values.back();
    Result<testing::KernelCase> kernel = testing::KernelCase::Create(*w, target, *DefaultConfig(*w, target), &pool_[0]);
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    ASSERT_TRUE(kernel->Load(*data).ok());
    kernel->Run();
    EXPECT_GT(*std::max_element(reference.begin(), reference.end()), 0.0f);
    EXPECT_LT(*std::max_element(reference.begin(), reference.end()), std::numeric_limits<float>::min());
    EXPECT_EQ(std::vector<float>(kernel->output(), kernel->output() + reference.size()), reference);
  }
}

TEST_F(KernelTest, ReductionsAndSoftmax) {
  std::vector<std::string> texts;
  for (const char* name : {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_sum_square",
                           "reduce_l1", "reduce_l2", "reduce_log_sum", "reduce_log_sum_exp"}) {
    for (const char* shape : {"(f32[3,5,7])", "(f32[3,5,7], axes=1, keep=1)", "(f32[2,33], axes=1)", "(f32[])",
                              "(f32[4,1,3,37], axes=0,2)"}) {
      texts.push_back(std::string(name) + shape);
    }
  }
  texts.insert(texts.end(), {"reduce_sum(f32[2,3,4,5,6], axes=0,2,4)", "reduce_mean(f32[100,33], axes=0, keep=1)",
                             "reduce_sum(f32[3,4], axes=1)", "reduce_max(f32[1,1])"});
  for (const char* name : {"softmax", "log_softmax"}) {
    for (const char* shape :
         {"(f32[7])", "(f32[3,17,5], axis=1)", "(f32[2,3,4,5], axis=0)", "(f32[1,1])", "(f32[3,4,33])"}) {
      texts.push_back(std::string(name) + shape);
    }
  }
  Check(texts);
}

TEST_F(KernelTest, MatrixProducts) {
  Check({
      "matmul(f32[3,4], f32[4,5])",
      "matmul(f32[17,33], f32[33,37])",
      "matmul(f32[5], f32[5])",
      "matmul(f32[5], f32[5,7])",
      "matmul(f32[7,5], f32[5])",
      "matmul(f32[2,3,4], f32[4,5])",
      "matmul(f32[2,1,3,4], f32[5,4,18])",
      "matmul(f32[3,4], f32[2,2,4,1])",
      "matmul(f32[1,1], f32[1,1])",
      "matmul(f32[2,3,5], f32[2,5,16])",
      "matmul(f32[2,1,3,2,3,4], f32[4,1,2,4,3])",
  });
}

TEST_F(KernelTest, Movement) {
  Check({
      "transpose(f32[])",
      "transpose(f32[2,3], perm=1,0)",
      "transpose(f32[2,17,3,5], perm=0,2,3,1)",
      "transpose(f32[2,3,4,5,6], perm=4,0,1,3,2)",
      "transpose(f32[1,7,1], perm=2,1,0)",
      "reshape(f32[2,3,4], shape=4,6)",
      "reshape(f32[1])",
      "reshape(f32[2,17,3,3], shape=2,153)",
      "slice(f32[10], begin=2, end=9, step=3)",
      "slice(f32[4,7,5], begin=0,6,1, end=4,-1,5, step=1,-2,2)",
      "slice(f32[1,33,3,3], begin=0,16,0,0, end=1,33,3,3)",
      "slice(f32[3,4], begin=1,2, end=2,3)",
      "concat(f32[3,4], f32[3,5])",
      "concat(f32[3], f32[4], f32[1], axis=0)",
      "concat(f32[2,3,4], f32[2,3,18], axis=2)",
      "concat(f32[2,3,2,2], f32[1,3,2,2], axis=0)",
      "concat(f32[1,3,2,2], f32[1,3,2,5], axis=3)",
      "concat(f32[1,3,2,2,2], f32[1,18,2,2,2])",
      "pad(f32[3,4], low=1,2, high=0,3, value=1.5)",
      "pad(f32[5,4,6], low=0,3,2, high=0,1,5, mode=reflect)",
      "pad(f32[3,4], low=5,0, high=4,7, mode=edge)",
      "pad(f32[3,40], low=3,2, high=1,40, mode=wrap)",
      "pad(f32[1,17,4,4], low=0,0,1,1, high=0,0,2,0)",
      "pad(f32[2,2])",
      "gather(f32[5,4], indices=4,0,2, shape=3)",
      "gather(f32[5,37], axis=1, indices=3)",
      "gather(f32[2,9,3], axis=1, indices=0,2,4,8,7,6,1,1, shape=4,2)",
      "gather(f32[7], indices=6)",
      "expand(f32[], shape=3,5)",
      "expand(f32[3,1], shape=2,3,4)",
      "expand(f32[2,1,33], shape=2,5,33)",
  });
}

TEST_F(KernelTest, NormsAndResizing) {
  Check({
      "lrn(f32[1,5,3,3], size=3)",
      "lrn(f32[2,17,5], size=4, alpha=0.5, beta=0.6, bias=2)",
      "instance_norm(f32[2,3,5,7], f32[3], f32[3])",
      "instance_norm(f32[1,17,40], f32[17], f32[17], epsilon=0.01)",
      "layer_norm(f32[3,5,37], f32[37], f32[37])",
      "layer_norm(f32[2,3,4,5], f32[3,4,5], axis=1)",
      "layer_norm(f32[1], f32[1], f32[1])",
      "layer_norm(f32[4], f32[4], axis=0, epsilon=0.1)",
      "resize(f32[1,3,4,5], out=1,3,8,10)",
      "resize(f32[1,3,4,5], out=1,3,7,3, coordinate=asymmetric, round=floor)",
      "resize(f32[1,2,5,7], out=1,2,9,4, round=round_prefer_ceil, coordinate=align_corners)",
      "resize(f32[1,3,4,5], out=1,3,8,10, mode=linear)",
      "resize(f32[7], out=3, mode=linear, coordinate=align_corners)",
      "resize(f32[1,2,4,5], out=1,2,1,9, mode=linear, coordinate=pytorch_half_pixel)",
      "resize(f32[1,2,3,3,3], out=1,2,6,5,4, mode=linear, coordinate=asymmetric)",
      "resize(f32[1,2,4,5], out=1,2,7,9, mode=cubic)",
      "resize(f32[1,2,4,4], out=1,2,9,3, mode=cubic, exclude_outside=1, cubic=-0.5)",
      "resize(f32[1,2,4,4], out=1,2,9,3, mode=linear, scale=1,1,2.25,0.8, coordinate=half_pixel_symmetric)",
      "resize(f32[1,2,4,4], out=1,2,8,6, coordinate=tf_half_pixel_for_nn, round=floor)",
  });
}

TEST_F(KernelTest, TransposedConvolutions) {
  Check({
      "conv_transpose2d(f32[1,1,1,1], f32[1,1,1,1])",
      "conv_transpose2d(f32[1,3,4,5], f32[3,2,3,3], stride=2x2, pad=1,1,1,1, output_pad=1x1)",
      "conv_transpose2d(f32[2,4,3,7], f32[4,3,2,3], groups=2, stride=1x3, pad=0,1,1,0)",
      "conv_transpose2d(f32[1,5,4,4], f32[5,7,3,2], dilation=2x3, stride=2x1)",
      "conv_transpose3d(f32[1,3,2,3,4], f32[3,5,2,3,3], stride=2x1x2, pad=0,1,1,1,0,1)",
      "conv_transpose2d(f32[1,16,7,7], f32[16,8,4,4], stride=2x2, pad=1,1,1,1)",
  });
}

TEST_F(KernelTest, GlobalPooling) {
  Check({
      "global_avg_pool(f32[2,17,5])",
      "global_avg_pool(f32[1,17,3,4,5])",
      "global_max_pool(f32[2,17,3,5])",
      "global_max_pool(f32[2,3,37])",
      "global_avg_pool(f32[1,2,2,2,2,2])",
      "global_max_pool(f32[1,33,2,3,2])",
  });
}

TEST_F(KernelTest, ChangesOfLayout) {
  Check({
      "block(f32[1,3,7,5])",
      "block(f32[2,32,3,3])",
      "unblock(f32[3,17,5,2])",
      "unblock(f32[1,33,1,1])",
      "flatten(f32[1,512,1,1])",
      "flatten(f32[3,17,1,1])",
      "flatten(f32[2,33,7,5])",
      "flatten(f32[5,7])",
      "flatten(f32[2,3,5])",
      "pad2d(f32[1,17,5,7], pad=1,0,2,3)",
      "concat(f32[1,16,5,5], f32[1,32,5,5], f32[1,7,5,5])",
      "concat(f32[2,3,3,7], f32[2,17,3,7], f32[2,33,3,7])",
      "concat(f32[1,5,2,2])",
  });
}

}  // namespace
}  // namespace hone::op
