// Compiled kernels against the operators' references: odd shapes x the default and some random legal points. The
// reference is independent of te, schedules and code generation (loops over plain indices in double precision).
#include <gtest/gtest.h>

#include <cmath>

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
  EXPECT_LE(d.worst, bound)
      << "at " << Describe(out, d.at) << ": " << kernel->output()[d.at] << " for " << reference[d.at];
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
  const Operator* op = *FindOperator(w->op);
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

TEST_F(KernelTest, Dense) {
  Check(
      {
          "dense(f32[1,512], f32[1000,512]) + bias",
          "dense(f32[1,1], f32[1,1])",
          "dense(f32[3,17], f32[33,17]) + bias + relu",
          "dense(f32[13,64], f32[7,64]) + add",
                "dense(f32[13,100], f32[70,100]) + bias",
          "dense(f32[5,33], f32[80,33]) + bias + clip(0.1,0.5)",
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
