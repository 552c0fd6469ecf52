// Groups whose computation is composed of their members': what is refused, who proposes their schedules, and kernels
// compared with the members' references.
#include "op/group.h"

#include <fmt/format.h>

#include "propose/propose.h"
#include "semantics/semantics.h"
#include "unit/op/gpu_case.h"
#include "unit/op/kernel_fixture.h"

namespace hone::op {
namespace {

Target Avx512() { return Target{.threads = 2, .vector_bytes = 64, .vector_registers = 32}; }

std::string ProposersOf(const std::string& text) {
  std::string names;
  const auto proposers = propose::AllProposers(Must(ParseChecked(text)), Avx512());
  if (!proposers.ok()) return proposers.status().message();
  for (const propose::Proposer& p : *proposers) names += (names.empty() ? "" : " ") + p.name();
  return names;
}

TEST(Group, Refusals) {
  for (auto [text, part] : std::vector<std::pair<const char*, const char*>>{
           {"dense(f32[2,8], f32[4,8]) -> gelu(f32[2,5])", "column 30: gelu takes f32[2,5], but dense makes f32[2,4]"},
           {"t0 = dense(f32[2,8], f32[4,8]) -> t1 = relu(t0:f32[2,4]) -> mul(t0:f32[1,4], t1:f32[2,4])",
            "column 58: mul takes f32[1,4], but dense makes f32[2,4]"},
           {"dense(f32[2,8], f32[4,8]) -> softmax(f32[2,4], axis=7)", "column 30: softmax"},
           {"conv2d(f32[1,8,6,6], f32[4,8,1,1]) -> relu(f32[1,4,6,6], layout=plain)",
            "column 39: relu reads a tensor that is stored plain, but conv2d stores it in blocks"},
           {"dense(f32[2,8], f32[4,8]) -> cube(f32[2,4])", "unknown operator `cube`"}}) {
    const Status status = ParseChecked(text).status();
    EXPECT_THAT(status.message(), HasSubstr(part)) << text;
    EXPECT_THAT(status.message(), Not(HasSubstr("\n")));
  }
}

TEST(Group, WhoProposesSchedules) {
  for (auto [text, names] : std::vector<std::pair<const char*, const char*>>{
           {"dense(f32[8,16], f32[32,16]) + bias -> gelu(f32[8,32])", "dense_packed sums"},
           {"dense(f32[8,16], f32[32,16]) -> reshape(f32[8,32], shape=8,4,8) -> transpose(f32[8,4,8], perm=1,0,2)",
            "sums"},
           {"conv2d(f32[1,16,12,12], f32[32,16,3,3]) -> hard_swish(f32[1,32,10,10])",
            "sums transformed_m2 transformed_m4 transformed_m5 transformed_m6"},
           {"matmul(f32[2,8,16], f32[2,16,24]) -> mul(f32[2,8,24], f32[1]) -> add(f32[2,8,24], f32[8,24])", "sums"},
           {"add(f32[8,32], f32[8,32]) -> layer_norm(f32[8,32], f32[32])", "rows"},
           {"sigmoid(f32[8,32]) -> mul(f32[8,32], f32[8,32])", "stages"},
           {"conv2d(f32[1,8,6,6], f32[4,8,3,3]) -> max_pool2d(f32[1,4,4,4], kernel=2x2)", "chain_conv2d_pool"}}) {
    EXPECT_EQ(ProposersOf(text), names) << text;
  }
  // Two sums over different axes are no row.
  EXPECT_THAT(ProposersOf("dense(f32[8,16], f32[32,16]) -> dense(f32[8,32], f32[16,32])"), HasSubstr("no kernel"));
  EXPECT_THAT(ProposersOf("softmax(f32[8,16]) -> dense(f32[8,16], f32[32,16])"), HasSubstr("no kernel"));
  EXPECT_THAT(ProposersOf("dense(f32[8,16], f32[32,16]) -> softmax(f32[8,32])"), HasSubstr("no kernel"));
}

// Heads of attention: the sum gets the output's axes, the reshape and the transpose are gone.
TEST(Group, MovesBecomeIndices) {
  const Workload w =
      Must(ParseChecked("dense(f32[10,16], f32[24,16]) + bias -> reshape(f32[10,24], shape=2,5,3,8) -> "
                        "transpose(f32[2,5,3,8], perm=0,2,1,3)"));
  const Computation c = Must(ComputeGroup(w, Avx512()));
  std::string stages;
  for (const Tensor& t : te::TopologicalOrder(c.outputs)) {
    stages += fmt::format("{}{} ", t.name(), TensorType{t.type(), t.shape()}.Text().substr(3));
  }
  EXPECT_EQ(stages, "data[2,5,16] weight[3,8,16] acc[2,3,5,8] bias[3,8] out[2,3,5,8] ");
}

class GroupKernels : public KernelTest {
 protected:
  // A point of each template and sketch.
  void CheckProposers(const std::string& text) {
    const Target target = HostWith(64, 32, 2);
    const ReferenceCase c = MakeReferenceCase(text, target);
    for (const propose::Proposer& p : Must(propose::AllProposers(c.workload, target))) {
      const search::Space space = Must(p.MakeSpace());
      CheckConfig(c, target, Must(p.Default(space)), &pool_);
      Rng rng(5);
      for (int i = 0; i < 3; ++i) CheckConfig(c, target, space.At(*space.SampleLegal(rng)), &pool_);
    }
  }
};

TEST_F(GroupKernels, TemplatesOfTheFirstMember) {
  CheckProposers("conv2d(f32[1,16,12,12], f32[32,16,3,3], pad=1,1,1,1) + bias -> hard_swish(f32[1,32,12,12])");
  CheckProposers(
      "t0 = conv2d(f32[1,16,9,9], f32[48,16,1,1]) + bias -> t1 = sigmoid(t0:f32[1,48,9,9]) -> "
      "mul(t0:f32[1,48,9,9], t1:f32[1,48,9,9])");
  CheckProposers("conv2d(f32[1,33,9,9], f32[33,1,3,3], groups=33) + bias -> gelu(f32[1,33,7,7])");
  CheckProposers("conv2d(f32[1,16,14,14], f32[16,16,3,3], pad=12,12,12,12, dilation=12x12) -> tanh(f32[1,16,14,14])");
  CheckProposers("dense(f32[7,24], f32[40,24]) + bias + add -> gelu(f32[7,40])");
  CheckProposers("max_pool2d(f32[1,20,7,7], kernel=3x3, stride=2x2) -> tanh(f32[1,20,3,3])");
}

// On GPUs, in the interpreter: tuned templates of the first member, and the one schedule of groups without one.
TEST(Group, OnGpus) {
  const Target target = Must(Target::Parse("cuda -arch=sm_80"));
  for (const auto& [text, least] : std::vector<std::pair<const char*, size_t>>{
           {"dense(f32[32,48], f32[40,48]) + bias -> gelu(f32[32,40])", 1},
           {"t0 = dense(f32[3,33], f32[17,33]) + bias -> t1 = sigmoid(t0:f32[3,17]) -> mul(t0:f32[3,17], t1:f32[3,17])",
            1},
           {"conv2d(f32[1,8,8,8], f32[16,8,3,3], pad=1,1,1,1) + bias -> hard_swish(f32[1,16,8,8])", 2},
           {"conv2d(f32[1,16,7,7], f32[16,1,3,3], groups=16, pad=1,1,1,1) -> mul(f32[1,16,7,7], f32[16,1,1])", 1},
           {"mul(f32[3,24,20], f32[1]) -> softmax(f32[3,24,20])", 1}}) {
    const Workload w = Must(ParseChecked(text));
    const propose::Proposers proposers = Must(propose::AllProposers(w, target));
    EXPECT_GE(proposers.size(), least) << text;
    for (const propose::Proposer& p : proposers) {
      const search::Space space = Must(p.MakeSpace());
      EXPECT_EQ(testing::CheckGpu(w, target, Must(p.Default(space)), 1), "");
    }
  }
}

TEST_F(GroupKernels, AfterSums) {
  Check({
      "dense(f32[8,16], f32[32,16]) + bias -> gelu(f32[8,32])",
      "dense(f32[5,13], f32[33,13]) + bias + relu -> mul(f32[5,33], f32[1])",
      "t0 = dense(f32[7,24], f32[40,24]) + bias -> t1 = sigmoid(t0:f32[7,40]) -> mul(t0:f32[7,40], t1:f32[7,40])",
      "dense(f32[1,64], f32[48,64]) -> tanh(f32[1,48])",
      "matmul(f32[3,13,16], f32[3,16,17]) -> mul(f32[3,13,17], f32[1]) -> add(f32[3,13,17], f32[13,17])",
      "matmul(f32[1,12,20,16], f32[1,12,16,20]) -> add(f32[1,12,20,20], f32[1,1,1,20], layout=plain)",
      "matmul(f32[6,24], f32[24,40]) -> sub(f32[6,40], f32[6,1]) -> exp(f32[6,40])",
      "conv2d(f32[1,17,9,7], f32[33,17,3,3], pad=1,1,1,1) + bias -> hard_swish(f32[1,33,9,7])",
      "t0 = conv2d(f32[2,16,5,5], f32[32,16,1,1]) + bias -> t1 = sigmoid(t0:f32[2,32,5,5]) -> "
      "mul(t0:f32[2,32,5,5], t1:f32[2,32,5,5])",
      "conv2d(f32[1,3,9,9], f32[17,3,3,3], stride=2x2, in=nchw) -> mul(f32[1,17,4,4], f32[17,1,1]) -> "
      "add(f32[1,17,4,4], f32[1,17,4,4])",
  });
}

TEST_F(GroupKernels, MovesAroundSums) {
  Check({
      "dense(f32[10,16], f32[24,16]) + bias -> mul(f32[10,24], f32[1]) -> reshape(f32[10,24], shape=2,5,3,8) -> "
      "transpose(f32[2,5,3,8], perm=0,2,1,3)",
      "dense(f32[12,32], f32[64,32]) -> reshape(f32[12,64], shape=1,12,4,16) -> transpose(f32[1,12,4,16], "
      "perm=0,2,1,3)",
      "matmul(f32[1,3,20,20], f32[1,3,20,16]) -> transpose(f32[1,3,20,16], perm=0,2,1,3) -> "
      "reshape(f32[1,20,3,16], shape=20,48)",
      "transpose(f32[24,16], perm=1,0) -> matmul(f32[16,24], f32[24,40])",
      "t0 = transpose(f32[40,24], perm=1,0) -> matmul(f32[16,24], t0:f32[24,40])",
      "t0 = reshape(f32[40,48], shape=2,20,3,16) -> t1 = transpose(t0:f32[2,20,3,16], perm=0,2,3,1) -> "
      "matmul(f32[2,3,20,16], t1:f32[2,3,16,20])",
      "t0 = reshape(f32[40,48], shape=2,20,3,16) -> t1 = transpose(t0:f32[2,20,3,16], perm=0,2,1,3) -> "
      "matmul(f32[2,3,20,20], t1:f32[2,3,20,16])",
  });
}

TEST_F(GroupKernels, BeforeSums) {
  Check({
      "relu(f32[13,24]) -> matmul(f32[13,24], f32[24,33])",
      "add(f32[7,16], f32[16]) -> gelu(f32[7,16]) -> dense(f32[7,16], f32[24,16]) + bias",
      "relu(f32[1,16,9,7]) -> conv2d(f32[1,16,9,7], f32[32,16,3,3], pad=1,1,1,1) + bias",
  });
}

TEST_F(GroupKernels, Rows) {
  Check({
      "add(f32[8,32], f32[8,32]) -> layer_norm(f32[8,32], f32[32], f32[32])",
      "add(f32[2,7,33], f32[33]) -> layer_norm(f32[2,7,33], f32[33], f32[33])",
      "mul(f32[3,5,17], f32[1]) -> softmax(f32[3,5,17])",
      "mul(f32[2,3,5,17], f32[1], layout=plain) -> add(f32[2,3,5,17], f32[1,1,5,17], layout=plain) -> "
      "softmax(f32[2,3,5,17])",
      "mul(f32[1,15], f32[1]) -> softmax(f32[1,15])",
      "softmax(f32[6,40]) -> mul(f32[6,40], f32[6,40])",
      "layer_norm(f32[6,40], f32[40]) -> gelu(f32[6,40])",
      "mul(f32[3,14,5], f32[1]) -> softmax(f32[3,14,5], axis=1)",
      "exp(f32[3,20,5]) -> reduce_sum(f32[3,20,5], axes=1)",
      "abs(f32[6,40]) -> reduce_max(f32[6,40], axes=1) -> sqrt(f32[6])",
      "global_avg_pool(f32[2,17,5,5]) -> sigmoid(f32[2,17,1,1])",
      "reduce_mean(f32[4,6,8,8], axes=2,3) -> relu(f32[4,6])",
  });
}

TEST_F(GroupKernels, ElementWise) {
  Check({
      "sigmoid(f32[8,33]) -> mul(f32[8,33], f32[8,33])",
      "t0 = sigmoid(f32[2,17,5,3]) -> sub(f32[2,17,5,3], t0:f32[2,17,5,3])",
      "relu(f32[7,33]) -> add(f32[7,33], f32[7,1])",
      "relu(f32[7]) -> mul(f32[7], f32[5,7])",
      "reshape(f32[10,24], shape=2,5,3,8) -> transpose(f32[2,5,3,8], perm=0,2,1,3)",
      "transpose(f32[6,5,4], perm=2,0,1) -> tanh(f32[4,6,5])",
      "slice(f32[7,10], begin=1,2, end=7,9) -> exp(f32[6,7])",
  });
}

}  // namespace
}  // namespace hone::op
