// The template for tensor cores in the interpreter, compared with the reference (tests/agree has odd shapes). Inputs
// are multiples of 1/8, exact in TF32, so results are exact; rounding is tested separately.
#include "common/expect.h"
#include "interpreter/tf32.h"
#include "ir/device_kernels.h"
#include "ir/printer.h"
#include "op/gpu/conv2d.h"
#include "op/numerics.h"
#include "propose/propose.h"
#include "unit/op/gpu_case.h"

namespace hone::op {
namespace {

Target Cuda(const char* arch = "sm_80") { return *Target::Parse(std::string("cuda -arch=") + arch); }

constexpr char kTensor[] = "conv2d_gpu_tensor";

bool HasTensor(const char* text, const Target& target) {
  const Workload w = *ParseChecked(text);
  const std::vector<const Template*> templates = (*FindOperator(w))->Templates(w, target);
  return std::any_of(templates.begin(), templates.end(), [](auto* t) { return t->name() == std::string(kTensor); });
}

// Every value of every knob.
TEST(GpuTensor, EveryKnobAgreesWithTheReference) {
  testing::GpuPoints p("conv2d(f32[1,130,9,9], f32[68,130,1,1]) + bias", Cuda(), kTensor);
  std::set<std::pair<std::string, int64_t>> seen;
  for (int i = 0; i < 4000; ++i) {
    const Config config = p.Draw();
    bool fresh = false;
    for (const search::Knob& knob : p.space.knobs()) {
      fresh = seen.emplace(knob.name(), config.Number(knob.name())).second || fresh;
    }
    if (fresh) {
      EXPECT_EQ(testing::CheckGpu(p.w, Cuda(), config, i), "");
    }
  }
  size_t values = 0;
  for (const search::Knob& knob : p.space.knobs()) values += knob.size();
  EXPECT_EQ(seen.size(), values);
}

TEST(GpuTensor, TakesNoMoreThanItsFormulaSays) {
  testing::GpuPoints p("conv2d(f32[1,24,20,20], f32[70,24,3,3], pad=1,1,1,1)", Cuda(), kTensor, 5);
  for (int i = 0; i < 12; ++i) {
    const Config config = p.Draw();
    const compile::LoweredKernel f = Must(testing::LowerGpu(p.w, Cuda(), config));
    EXPECT_THAT(ir::ToString(f.functions[0].body), HasSubstr("mma_tf32("));
    const ir::DeviceProgram program = *ir::SplitKernels(f.functions[0]);
    const ir::DeviceKernel& kernel = program.kernels[0];
    const int64_t threads = kernel.block[0] * kernel.block[1] * kernel.block[2];
    EXPECT_EQ(threads, 32 * config.Number("warps_f") * config.Number("warps_p"));
    EXPECT_EQ(kernel.block[0], 4);
    EXPECT_LE(kernel.shared_bytes, Cuda().limits.shared_bytes_per_block);
  }
}

// TF32 drops its bits exactly once: with a reduction of one product of each kind, the result is known to the last bit.
TEST(GpuTensor, RoundsBothFactorsAndNothingElse) {
  testing::GpuPoints p("conv2d(f32[1,1,4,4], f32[16,1,1,1])", Cuda(), kTensor);
  std::vector<std::vector<float>> operands = testing::MakeGpuOperands(p.w, Cuda(), 3);
  Rng rng(9);
  for (size_t k = 0; k < 2; ++k) {
    for (float& x : operands[k]) x = static_cast<float>(rng.UniformDouble() - 0.5);
  }
  Must(testing::RunOnInterpreter(p.w, Cuda(), *p.t->Default(p.space, p.w, Cuda()), 3, &operands));
  bool any = false;
  for (size_t f = 0; f < 16; ++f) {
    for (size_t p = 0; p < 16; ++p) {
      const double want = ir::RoundTf32(operands[0][p]) * ir::RoundTf32(operands[1][f]);
      EXPECT_EQ(operands.back()[f * 16 + p], static_cast<float>(want));
      any = any || operands.back()[f * 16 + p] != operands[0][p] * operands[1][f];
    }
  }
  EXPECT_TRUE(any) << "nothing was rounded";
}

// With the inputs used for verifying candidates (measure/inputs.h), 576 products per output.
TEST(GpuTensor, TheBoundIsThatOfTheRounding) {
  double worst = 0, squares = 0, count = 0;
  Rng rng(2);
  for (int i = 0; i < 4000; ++i) {
    double exact = 0, rounded = 0;
    for (int k = 0; k < 576; ++k) {
      const double x = (2 * rng.UniformDouble() - 1) * std::sqrt(3.0);
      const double y = (2 * rng.UniformDouble() - 1) * std::sqrt(3.0) * std::sqrt(2.0 / 576);
      const float a = static_cast<float>(x), b = static_cast<float>(y);
      exact += static_cast<double>(a) * b;
      rounded += ir::RoundTf32(a) * ir::RoundTf32(b);
    }
    const double error = std::fabs(rounded - exact) / (1 + std::fabs(exact));
    worst = std::max(worst, error);
    squares += (rounded - exact) * (rounded - exact), ++count;
  }
  EXPECT_NEAR(std::log2(std::sqrt(squares / count)), -11.3, 0.2) << "as op/gpu/conv2d.h derives it";
  EXPECT_LT(worst, kTf32Rounding / 2);
}

TEST(GpuTensor, IsOffUnlessNumericsAllowIt) {
  testing::GpuPoints p("conv2d(f32[1,16,8,8], f32[16,16,1,1])", Cuda(), kTensor, 1);
  const Workload& w = p.w;
  const Config config = p.Draw();
  EXPECT_EQ(Forbidden(w, Cuda(), {}, config).value_or("").substr(0, 8), "numerics");
  EXPECT_FALSE(Forbidden(w, Cuda(), {.tf32 = true}, config).has_value());
  const search::TaskSpace off = *propose::MakeTaskSpace(w, Cuda(), Numerics()), on = *propose::MakeTaskSpace(w, Cuda());
  EXPECT_EQ(off.size(), on.size()) << "indices mean the same";
  EXPECT_TRUE(propose::Instantiate(*propose::AllProposers(w, Cuda()), on, config).ok())
      << "as a child that compiles does";
  std::map<std::string, int> drawn_off, drawn_on;
  for (int i = 0; i < 200; ++i) {
    ++drawn_off[off.At(*off.SampleLegal(p.rng)).template_name];
    ++drawn_on[on.At(*on.SampleLegal(p.rng)).template_name];
  }
  EXPECT_EQ(drawn_off.count("conv2d_gpu_tensor"), 0U);
  EXPECT_GT(drawn_on["conv2d_gpu_tensor"], 20);
  const Computation computation = *Compute(w, Cuda(), propose::Instantiate(w, Cuda(), config)->algorithm);
  EXPECT_EQ(computation.rounding, kTf32Rounding);
  EXPECT_EQ(computation.arithmetic, kTf32Arithmetic) << "it may be faster than the peak at f32";
  const NumericsMatter matter = WhichNumericsMatter(w, Cuda());
  EXPECT_TRUE(matter.tf32);
  EXPECT_FALSE(matter.winograd) << "1x1";
}

TEST(GpuTensor, NeedsADeviceThatHasIt) {
  const char* plain = "conv2d(f32[1,16,8,8], f32[16,16,1,1])";
  EXPECT_TRUE(HasTensor(plain, Cuda("sm_90")));
  EXPECT_FALSE(HasTensor(plain, Cuda("sm_75")));
  EXPECT_FALSE(HasTensor(plain, *Target::Parse("opencl")));
  EXPECT_FALSE(WhichNumericsMatter(*ParseChecked(plain), Cuda("sm_75")).tf32);
  EXPECT_FALSE(HasTensor("conv2d(f32[1,32,8,8], f32[32,16,1,1], groups=2)", Cuda()));
  EXPECT_FALSE(HasTensor("conv2d(f32[1,16,8,8], f32[15,16,1,1])", Cuda())) << "too few filters";
}

}  // namespace
}  // namespace hone::op
