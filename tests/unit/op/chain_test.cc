// Chains: what is rejected, and kernels compared with the members' references and with the members' own kernels.
#include "base/rng.h"
#include "op/estimate/estimate.h"
#include "op/numerics.h"
#include "propose/propose.h"
#include "semantics/semantics.h"
#include "unit/op/kernel_fixture.h"

namespace hone::op {
namespace {

Target Avx512() { return Target{.threads = 2, .vector_bytes = 64, .vector_registers = 32}; }

TEST(Chain, Refusals) {
  for (auto [text, part] : std::vector<std::pair<const char*, const char*>>{
           {"conv2d(f32[1,8,6,6], f32[4,8,3,3]) -> max_pool2d(f32[1,4,5,5], kernel=2x2)", "f32[1,4,4,4]"},
           {"conv2d(f32[1,8,6,6], f32[4,8,1,1]) -> conv2d(f32[1,4,6,6], f32[4,4,1,1], in=nchw)", "`in`"},
           {"conv2d(f32[1,8,6,6], f32[4,8,3,3]) -> max_pool2d(f32[1,4,4,4], kernel=5x5)", "no output"},
           {"conv2d(f32[1,8,6,6], f32[4,8,3,3]) -> cube(f32[1,4,4,4])", "cube"}}) {
    EXPECT_THAT(ParseChecked(text).status().message(), HasSubstr(part)) << text;
  }
  const Workload pools =
      Must(ParseChecked("max_pool2d(f32[1,4,5,5], kernel=2x2) -> max_pool2d(f32[1,4,4,4], kernel=2x2)"));
  EXPECT_THAT(propose::AllProposers(pools, Avx512()).status().message(), HasSubstr("no kernel"));
}

TEST(Chain, CanonicalTypeFlopAndOperands) {
  Workload w = *ParseChecked(
      "conv2d(f32[1,8,6,6], f32[20,8,1,1], stride=1x1, pad=0) + bias + add + relu -> conv2d(f32[1,20,6,6], "
      "f32[20,1,3,3], "
      "groups=20, stride=2, pad=1) + bias + bias");
  EXPECT_EQ(
      w.Text(),
      "conv2d(f32[1,8,6,6], f32[20,8,1,1]) + bias + add + relu -> conv2d(f32[1,20,6,6], f32[20,1,3,3], stride=2x2, "
      "pad=1,1,1,1, groups=20) + bias + bias");
  const Operator* op = *FindOperator(w);
  EXPECT_EQ(op->name(), std::string("chain"));
  EXPECT_TRUE(propose::Tunable(w, Avx512()));
  EXPECT_EQ(semantics::InferOutput(w)->Text(), "f32[1,20,3,3]");
  EXPECT_EQ(semantics::Flop(w), 20 * 36 * (16 + 3) + 20 * 9 * (18 + 2));
  std::string names;
  for (const Operand& o : op->Operands(w, Avx512())) names += o.name + " ";
  EXPECT_EQ(names, "data weight bias residual then.weight then.bias then.bias1 out ");
}

// More rows computed twice, a smaller register tile, or a busier thread cost more; the best legal point is near the
// default.
TEST(Chain, EstimatesKnowWhatCosts) {
  const std::string conv = "conv2d(f32[1,16,112,112], f32[96,16,1,1]) + bias";
  const std::string dw = "conv2d(f32[1,96,112,112], f32[96,1,3,3], stride=2, pad=1, groups=96) + bias";
  const std::string last = "conv2d(f32[1,96,56,56], f32[24,96,1,1]) + bias";
  const std::string pool = "max_pool2d(f32[1,96,112,112], kernel=3, stride=2, pad=1)";
  for (const std::string& text :
       {conv + " -> " + dw, dw + " -> " + last, conv + " -> " + dw + " -> " + last, conv + " -> " + pool}) {
    SCOPED_TRACE(text);
    const Workload w = *ParseChecked(text);
    const search::TaskSpace space = *propose::MakeTaskSpace(w, Avx512());
    const Config config = *propose::DefaultConfig(w, Avx512());
    const std::vector<double> estimate = propose::EstimatesOf(w, Avx512())(config);
    ASSERT_EQ(estimate.size(), FindEstimate(Avx512(), config.template_name)->names.size());
    auto with = [&](const char* knob, int64_t value) {
      Config changed = config;
      for (KnobValue& v : changed.values) {
        if (v.name == knob) v.numbers = {value};
      }
      return propose::EstimatesOf(w, Avx512())(changed)[0];
    };
    EXPECT_GT(with("tile_ow", 2), estimate[0]);
    EXPECT_GT(with("row_block", 56), estimate[0]);  // one task of two threads
    EXPECT_GT(with("ocv", 1), estimate[0]);
    double least = estimate[0];
    Rng rng(3);
    for (int i = 0; i < 200; ++i)
      least = std::min(least, propose::EstimatesOf(w, Avx512())(space.At(*space.SampleLegal(rng)))[0]);
    EXPECT_LT(estimate[0] - least, std::log(1.25));
  }
}

struct Apart {
  std::vector<float> values;
  double rounding = 0;  // total of the members' algorithms
};

// The output of the members' separate kernels, one after the other, at the points that `choose` returns.
Apart Unfused(const ReferenceCase& c, const Target& target, runtime::ThreadPool* pool,
              const std::function<Config(const Workload&)>& choose) {
  Apart apart;
  std::vector<float>& between = apart.values;
  size_t next = 0;
  for (const Workload& part : c.workload.Parts()) {
    testing::OperandData own = *testing::MakeOperandData(part, target, 1);
    size_t first = 0;
    if (next > 0) own.values[first++] = between;
    for (; first + 1 < own.values.size(); ++first) own.values[first] = c.data.values[next++];
    testing::KernelCase kernel = Must(testing::KernelCase::Create(part, target, choose(part), pool));
    Must(kernel.Load(own));
    kernel.Run();
    between.assign(kernel.output(), kernel.output() + own.values.back().size());
    apart.rounding += kernel.compiled().rounding;
  }
  return apart;
}

// The point with the least estimate of the sketch for tiles of m x m outputs; nothing if there is no such sketch.
std::optional<Config> WinogradOf(const Workload& workload, const Target& target, int64_t m) {
  for (const propose::Proposer& p : Must(propose::ProposersOf(workload, target))) {
    if (p.name() == fmt::format("transformed_m{}", m)) return Must(p.Default(Must(p.MakeSpace())));
  }
  return {};
}

class ChainKernels : public KernelTest {
 protected:
  void Check(const std::string& text, const Target& target, int random_points) {
    SCOPED_TRACE(text);
    const ReferenceCase c = MakeReferenceCase(text, target);
    const Apart unfused =
        Unfused(c, target, &pool_, [&](const Workload& part) { return *propose::DefaultConfig(part, target); });
    const double bound = RoundingBound(c.workload);
    EXPECT_LE(testing::Compare(c.reference, unfused.values.data()).worst, bound + unfused.rounding);

    const search::TaskSpace space = Must(propose::MakeTaskSpace(c.workload, target));
    Config config = Must(propose::DefaultConfig(c.workload, target));
    EXPECT_FALSE(space.Reject(config.index).has_value());
    Rng rng(std::hash<std::string>()(text));
    for (int i = 0; i <= random_points; ++i) {
      if (i > 0) config = space.At(*space.SampleLegal(rng));
      CheckConfig(c, target, config, &pool_);
      // Compared with each other, as the reference would allow twice the error.
      const testing::KernelCase kernel = RunOnce(c, target, config, &pool_);
      EXPECT_LE(testing::Compare(unfused.values, kernel.output()).worst,
                bound + kernel.compiled().rounding + unfused.rounding)
          << config.Text();
    }
  }
  void CheckAll(const std::vector<std::string>& texts) {
    int i = 0;
    for (const std::string& text : texts) {
      Check(text, HostWith(64, 32, 2 + i % 2), 3);
      if (i++ % 3 == 0) Check(text, HostWith(32, 16, 3), 1);
    }
  }
};

TEST_F(ChainKernels, ConvolutionThenPool) {
  CheckAll({
      "conv2d(f32[1,3,21,23], f32[32,3,7,7], stride=2x2, pad=3,3,3,3, in=nchw) + bias + relu -> "
      "max_pool2d(f32[1,32,11,12], kernel=3x3, stride=2x2, pad=1,1,1,1)",
      "conv2d(f32[1,3,15,13], f32[64,3,3,3], stride=2x2, in=nchw) + bias + relu -> "
      "max_pool2d(f32[1,64,7,6], kernel=3x3, stride=2x2, ceil_mode=1)",
      "conv2d(f32[1,16,7,5], f32[17,16,1,1]) + bias + add -> avg_pool2d(f32[1,17,7,5], kernel=3x2, pad=1,1,1,0)",
      "conv2d(f32[1,1,13,2], f32[1,1,3,1]) -> avg_pool2d(f32[1,1,11,2], kernel=2x2, stride=3x1, pad=1,0,0,1, "
      "count_include_pad=1)",
      "conv2d(f32[2,32,8,8], f32[48,32,5,1], pad=2,0,2,0) + relu6 -> max_pool2d(f32[2,48,8,8], kernel=8x8)",
  });
}

// Pools of 2x2 after 3x3 and 5x5: Winograd is beside the template, and each m of it runs.
TEST_F(ChainKernels, WinogradThenPool) {
  const Target target = HostWith(64, 32, 2);
  for (const std::string text : {
           "conv2d(f32[1,17,14,10], f32[33,17,3,3], pad=1,1,1,1) + bias + clip(0.5,2) -> "
           "max_pool2d(f32[1,33,14,10], kernel=2x2, stride=2x2)",
           // Without the pool, three tiles of 5 outputs would be cheapest, but a window of the pool would lie in two of
           // them.
           "conv2d(f32[1,32,14,14], f32[64,32,3,3], pad=1,1,1,1) + bias + relu -> "
           "max_pool2d(f32[1,64,14,14], kernel=2x2, stride=2x2)",
           "conv2d(f32[3,16,8,8], f32[32,16,3,3], pad=1,1,1,1) + bias + relu -> "
           "avg_pool2d(f32[3,32,8,8], kernel=2x2, stride=2x2)",
           "conv2d(f32[1,16,12,12], f32[16,16,5,5], pad=2,2,2,2) + bias -> "
           "max_pool2d(f32[1,16,12,12], kernel=2x2, stride=2x2)",
       }) {
    SCOPED_TRACE(text);
    const ReferenceCase c = MakeReferenceCase(text, target);
    int run = 0;
    for (int64_t m : {2, 3, 4, 5, 6}) {
      const std::optional<Config> config = WinogradOf(c.workload, target, m);
      if (!config) continue;
      SCOPED_TRACE(config->Text());
      const testing::KernelCase kernel = RunOnce(c, target, *config, &pool_);
      const double bound = RoundingBound(c.workload) + kernel.compiled().rounding;
      EXPECT_LE(testing::Compare(c.reference, kernel.output()).worst, bound);
      // The same tiles, with the pool as a separate kernel.
      const Apart unfused = Unfused(c, target, &pool_, [&](const Workload& part) {
        return part.op == "conv2d" ? WinogradOf(part, target, m).value() : *propose::DefaultConfig(part, target);
      });
      EXPECT_GT(unfused.rounding, 0);
      EXPECT_LE(testing::Compare(unfused.values, kernel.output()).worst, bound);
      ++run;
    }
    EXPECT_GE(run, 1);
  }
}

TEST(Chain, WinogradOnlyBehindPoolsThatCutTilesEvenly) {
  for (const auto& [text, applies] : std::vector<std::pair<std::string, bool>>{
           {"conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1) -> max_pool2d(f32[1,16,8,8], kernel=2, stride=2)", true},
           {"conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1) + add -> max_pool2d(f32[1,16,8,8], kernel=2, stride=2)",
            false},
           {"conv2d(f32[1,16,9,8], f32[16,16,3,3], pad=1) -> max_pool2d(f32[1,16,9,8], kernel=2, stride=2)", false},
           {"conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1) -> max_pool2d(f32[1,16,8,8], kernel=3, stride=2)", false},
           {"conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1) -> max_pool2d(f32[1,16,8,8], kernel=2)", false},
           {"conv2d(f32[1,16,8,8], f32[16,16,1,1]) -> max_pool2d(f32[1,16,8,8], kernel=2, stride=2)", false}}) {
    const Workload w = *ParseChecked(text);
    EXPECT_EQ((*FindOperator(w))->Templates(w, Avx512()).size(), 1u) << text;
    EXPECT_EQ(WinogradOf(w, Avx512(), 4).has_value(), applies) << text;
    EXPECT_EQ(WhichNumericsMatter(w, Avx512()).winograd, applies) << text;
  }
}

TEST_F(ChainKernels, PointwiseAndDepthwise) {
  CheckAll({
      "conv2d(f32[3,17,5,2], f32[17,1,5,5], pad=2,2,2,2, groups=17) -> conv2d(f32[3,17,5,2], f32[48,17,1,1]) + relu",
      "conv2d(f32[1,3,1,13], f32[3,1,1,3], pad=0,1,0,1, groups=3) -> conv2d(f32[1,3,1,13], f32[1,3,1,1]) + bias",
      "conv2d(f32[1,64,7,7], f32[64,1,3,3], pad=1,1,1,1, groups=64) + bias + relu6 -> "
      "conv2d(f32[1,64,7,7], f32[96,64,1,1]) + bias + clip(0.25,1)",
      "conv2d(f32[3,1,5,7], f32[17,1,1,1]) -> conv2d(f32[3,17,5,7], f32[17,1,5,5], pad=2,2,2,2, groups=17) + add",
      "conv2d(f32[1,3,9,5], f32[48,3,1,1], in=nchw) + bias -> "
      "conv2d(f32[1,48,9,5], f32[48,1,3,3], stride=1x2, pad=0,1,1,2, dilation=2x1, groups=48) + bias",
      "conv2d(f32[1,64,7,7], f32[128,64,1,1]) + bias + relu6 -> "
      "conv2d(f32[1,128,7,7], f32[128,1,3,3], pad=1,1,1,1, groups=128) + bias + relu6",
      "conv2d(f32[1,16,14,14], f32[96,16,1,1]) + bias + relu6 -> "
      "conv2d(f32[1,96,14,14], f32[96,1,3,3], stride=2x2, pad=1,1,1,1, groups=96) + bias + relu6 -> "
      "conv2d(f32[1,96,7,7], f32[24,96,1,1]) + bias",
      "conv2d(f32[3,17,13,5], f32[33,17,1,1]) + bias + clip(0.25,3) -> "
      "conv2d(f32[3,33,13,5], f32[33,1,5,5], pad=2,2,2,2, groups=33) + bias -> "
      "conv2d(f32[3,33,13,5], f32[17,33,1,1]) + bias + add",
      "conv2d(f32[1,3,1,7], f32[16,3,1,1], in=nchw) -> conv2d(f32[1,16,1,7], f32[16,1,1,3], groups=16) -> "
      "conv2d(f32[1,16,1,5], f32[48,16,1,1]) + relu",
  });
}

}  // namespace
}  // namespace hone::op
