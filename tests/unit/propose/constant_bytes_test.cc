// The bytes of packed constants: by hand if an algorithm determines them, and as in compiled kernels.
#include "base/rng.h"
#include "common/expect.h"
#include "compile/compile.h"
#include "op/operator.h"
#include "propose/propose.h"
#include "propose/versions.h"

namespace hone::propose {
namespace {

// Legal points of a workload, some of each template and sketch.
std::vector<Config> Points(const Workload& workload, const Target& target, int count) {
  const Result<search::TaskSpace> space = MakeTaskSpace(workload, target);
  EXPECT_TRUE(space.ok()) << space.status().message();
  std::vector<Config> points;
  Rng rng(3);
  for (int i = 0; space.ok() && i < count; ++i) {
    if (const auto index = space->SampleLegal(rng)) points.push_back(space->At(*index));
  }
  return points;
}

// 64 x 64 channels of 3x3: whole vectors everywhere, so no padding. (m + 2)^2 elements instead of 9.
TEST(ConstantBytes, WinogradsWeightsGrowWithItsTiles) {
  const Workload w = *op::ParseChecked("conv2d(f32[1,64,28,28], f32[64,64,3,3], pad=1,1,1,1) + bias + relu");
  const Target target = *Target::Parse("cpu -features=avx2,fma -vector=32");
  std::set<int64_t> tiles;
  for (const Config& config : Points(w, target, 60)) {
    if (config.template_name == "sums") continue;  // has whole tiles
    const int64_t bytes = Must(ConstantBytes(w, target, Must(Instantiate(w, target, config))));
    ASSERT_THAT(config.template_name, StartsWith("transformed_m"));
    const int64_t m = config.template_name.back() - '0';
    tiles.insert(m);
    EXPECT_EQ(bytes, 4 * (64 * 64 * (m + 2) * (m + 2) + 64)) << config.Text();
  }
  EXPECT_EQ(tiles, (std::set<int64_t>{2, 4, 6}));
}

// Odd shapes, chains, operators without constants: compared with what the library stores for the compiled kernel.
TEST(ConstantBytes, AreWhatTheCompiledKernelTakes) {
  const Target target = *HostTarget();
  for (const char* text : {"conv2d(f32[1,3,13,13], f32[17,3,3,3], stride=2x2, pad=1,1,1,1, in=nchw) + bias + relu",
                           "conv2d(f32[1,33,7,7], f32[33,33,3,3], pad=1,1,1,1) + bias + add",
                           "conv2d(f32[1,32,9,9], f32[32,1,3,3], pad=1,1,1,1, groups=32) + bias",
                           "conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1,1,1,1) + relu -> max_pool2d(f32[1,16,8,8], "
                           "kernel=2x2, stride=2x2)",
                           "dense(f32[1,37], f32[13,37]) + bias", "max_pool2d(f32[1,8,6,6], kernel=2x2, stride=2x2)"}) {
    const Workload w = Must(op::ParseChecked(text));
    const std::vector<Operand> operands = (*op::FindOperator(w))->Operands(w, target);
    for (const Config& config : Points(w, target, 8)) {
      const Candidate candidate = Must(Instantiate(w, target, config));
      const compile::LoweredKernel kernel = Must(compile::LowerKernel(w, target, candidate, {}));
      int64_t expected = 0;
      for (const ArgSource& arg : kernel.kernel_args) {
        const auto i = static_cast<size_t>(arg.index);
        if (arg.kind == ArgSource::Kind::kPrepared) {
          expected += kernel.prepared[i].elements * kernel.prepared[i].type.bytes();
        } else if (operands[i].role == OperandRole::kConstant) {
          expected += operands[i].PhysicalElements() * 4;
        }
      }
      const int64_t bytes = Must(ConstantBytes(w, target, candidate));
      EXPECT_EQ(bytes, expected) << text << ", " << config.Text();
      EXPECT_EQ(bytes == 0, w.op == "max_pool2d") << text;
    }
  }
}

TEST(ConstantBytes, RefusesACandidateOfAnotherWorkload) {
  const Workload w = *op::ParseChecked("dense(f32[1,8], f32[8,8])");
  EXPECT_FALSE(ConstantBytes(w, *HostTarget(), {{"winograd", {{"m", 4}, {"tiles", 4}}}, {}}).ok());
  EXPECT_FALSE(ConstantBytes(w, *HostTarget(), {{}, {Relayout("taps", {"d0", "d1"}, "packed")}}).ok());
}

}  // namespace
}  // namespace hone::propose
