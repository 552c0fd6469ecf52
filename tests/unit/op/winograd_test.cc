// conv2d_winograd: compiled kernels compared with conv2d's reference over odd shapes; accuracy; spaces.
#include "base/rng.h"
#include "op/conv/conv2d_winograd.h"
#include "op/conv/conv2d_winograd_space.h"
#include "op/estimate/estimate.h"
#include "propose/propose.h"
#include "task/step.h"
#include "unit/op/kernel_fixture.h"

namespace hone::op {
namespace {

struct Error {
  double worst = 0, deviation = 0;  // the largest difference; the standard deviation of the reference
};

class WinogradTest : public KernelTest {
 protected:
  Error Run(const ReferenceCase& c, const Target& target, const Candidate& candidate) {
    const testing::KernelCase kernel = RunOnce(c, target, candidate, &pool_);
    const Operand& out = c.data.operands.back();
    ExpectUnusedLanesAreZero(out, kernel.output());
    Error error;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < out.PhysicalElements(); ++i) {
      double got = kernel.output()[i], want = c.reference[i];
      error.worst = std::isnan(got) ? INFINITY : std::max(error.worst, std::abs(got - want));
      sum += want, squares += want * want;
    }
    double count = static_cast<double>(out.logical.Elements());
    error.deviation = std::sqrt(std::max(0.0, squares / count - sum * sum / count / count));
    return error;
  }

  // The default and a random point of each form and m of the layer.
  void Check(const std::string& text, const Target& target) {
    SCOPED_TRACE(text);
    const ReferenceCase c = MakeReferenceCase(text, target);
    ASSERT_TRUE(WinogradApplies(c.workload, target));
    const search::Space space = Must(Conv2dWinograd().MakeSpace(c.workload, target));
    std::vector<Config> configs = {Must(Conv2dWinograd().Default(space, c.workload, target))};
    ASSERT_FALSE(space.Reject(configs[0]).has_value());
    std::set<std::pair<int64_t, std::string>> seen;
    uint64_t index = Rng(std::hash<std::string>()(text)).UniformInt(space.size());
    for (uint64_t i = 0; i < space.size(); ++i) {
      index = (index + 7919) % space.size();  // a prime: visits the whole space
      Config config = space.At(index);
      std::pair<int64_t, std::string> kind = {config.Number("m"), config.Word("form")};
      if (seen.count(kind) || space.Reject(config)) continue;
      seen.insert(std::move(kind));
      configs.push_back(std::move(config));
    }
    EXPECT_GE(seen.size(), space.knobs()[0].size());  // small layers have only one form
    for (const Config& config : configs) {
      SCOPED_TRACE(config.Text());
      const Error error = Run(c, target, Must(Conv2dWinograd().Instantiate(c.workload, target, config)));
      // Small outputs have a small deviation relative to their size; errors are of the size of the sums.
      EXPECT_LE(error.worst, WinogradErrorBound(config.Number("m")) * std::max(error.deviation, 0.5));
    }
  }
};

TEST_F(WinogradTest, OddShapesAgreeWithTheReference) {
  const char* texts[] = {
      "conv2d(f32[1,1,5,7], f32[3,1,3,3], pad=1)",
      "conv2d(f32[1,3,7,13], f32[17,3,3,3], pad=1) + bias + relu",
      "conv2d(f32[1,17,13,5], f32[33,17,3,3], pad=1) + bias + add + relu",
      "conv2d(f32[3,33,7,7], f32[16,33,3,3], pad=0,1,2,0) + bias",
      "conv2d(f32[3,16,2,2], f32[33,16,3,3], pad=1) + add",
      "conv2d(f32[1,33,13,7], f32[17,33,3,3], pad=2,0,0,1) + relu6",
      "conv2d(f32[1,16,6,14], f32[80,16,3,3]) + bias + clip(0.25,1)",
      "conv2d(f32[1,32,12,12], f32[64,32,3,3], pad=1) + bias + relu",
      "conv2d(f32[2,17,24,5], f32[17,17,3,3], pad=3,3,1,2) + clip(-1,1)",
      "conv2d(f32[1,16,1,13], f32[16,16,3,3], pad=2)",
      "conv2d(f32[1,16,3,55], f32[16,16,3,3], pad=1) + bias + relu",  // tasks of part of a row
      "conv2d(f32[2,16,4,110], f32[16,16,3,3], pad=0,1,0,3)",
      "conv2d(f32[2,17,10,5], f32[33,17,3,3], pad=1) + bias + relu",  // m = 5
      "conv2d(f32[3,17,5,7], f32[33,17,1,3], pad=0,1,0,1) + bias + add + relu",
      "conv2d(f32[1,3,13,5], f32[17,3,3,1], pad=0,2,1,0) + bias",
      "conv2d(f32[3,1,7,13], f32[33,1,1,7], pad=1,3,0,2) + relu",
      "conv2d(f32[1,33,13,2], f32[3,33,7,1], pad=3,0,3,0) + bias + clip(0.25,1)",
      "conv2d(f32[1,17,13,7], f32[33,17,5,5], pad=2) + bias + relu",
      "conv2d(f32[3,33,5,13], f32[17,33,5,5], pad=0,2,3,1) + add",
      "conv2d(f32[1,17,13,13], f32[33,17,3,3], stride=2, pad=1) + bias + relu",
      "conv2d(f32[3,33,13,7], f32[16,33,3,3], stride=2, pad=0,1,2,0) + bias",
      "conv2d(f32[1,16,28,14], f32[32,16,5,5], stride=2, pad=2) + add",
  };
  int i = 0;
  for (const char* text : texts) {
    Check(text, HostWith(64, 32, 2 + i % 2));
    if (i++ % 4 == 1) Check(text, HostWith(32, 16, 3));
  }
}

// The documented figures: the largest error of a layer of a network against double precision, in standard deviations of
// the output.
TEST_F(WinogradTest, Accuracy) {
  Target target = HostWith(64, 32, 2);
  const char* layers[] = {
      "conv2d(f32[1,64,24,24], f32[64,64,3,3], pad=1)",
      "conv2d(f32[1,64,14,14], f32[64,64,3,3], pad=1)",  // m = 5 as well
      "conv2d(f32[1,64,24,24], f32[64,64,1,3], pad=0,1,0,1)",
      "conv2d(f32[1,64,24,24], f32[64,64,7,1], pad=3,0,3,0)",
      "conv2d(f32[1,64,24,24], f32[64,64,5,5], pad=2)",
      "conv2d(f32[1,64,24,24], f32[64,64,7,3], pad=3,1,3,1)",
      "conv2d(f32[1,64,24,24], f32[64,64,3,3], stride=2, pad=1)",
      "conv2d(f32[1,64,24,24], f32[64,64,5,5], stride=2, pad=2)",
      "conv2d(f32[1,64,24,24], f32[64,64,7,7], stride=2, pad=3)",
      // Longer sums.
      "conv2d(f32[1,256,14,14], f32[128,256,3,3], pad=1)",
      "conv2d(f32[1,256,17,17], f32[128,256,1,7], pad=0,3,0,3)",
      "conv2d(f32[1,256,12,12], f32[128,256,5,5], pad=2)",
      "conv2d(f32[1,224,24,24], f32[64,224,7,7], stride=2, pad=3)",
      // Pooled in the tile.
      "conv2d(f32[1,64,24,24], f32[64,64,3,3], pad=1) + bias + relu -> "
      "max_pool2d(f32[1,64,24,24], kernel=2x2, stride=2x2)",
      "conv2d(f32[1,256,12,12], f32[128,256,5,5], pad=2) -> avg_pool2d(f32[1,128,12,12], kernel=2x2, stride=2x2)",
  };
  for (const char* text : layers) {
    SCOPED_TRACE(text);
    const ReferenceCase c = MakeReferenceCase(text, target);
    const Workload& w = c.workload;
    ASSERT_TRUE(w.chain() ? WinogradPoolApplies(w, target) : WinogradApplies(w, target));
    const search::Space space = *(w.chain() ? ChainWinogradPool() : Conv2dWinograd()).MakeSpace(w, target);
    const search::Knob& sizes = space.knobs()[0];
    ASSERT_EQ(sizes.name(), "m");
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int64_t m = sizes.value(i).numbers[0];
      SCOPED_TRACE("m=" + std::to_string(m));
      uint64_t index = 0;
      while (index < space.size() && (space.At(index).Number("m") != m || !space.Legal(index))) ++index;
      ASSERT_LT(index, space.size());
      const Error error = Run(c, target, Must(propose::Instantiate(w, target, space.At(index))));
      EXPECT_LE(error.worst / error.deviation, WinogradErrorBound(m));
      // The estimate does not know how a pool or an epilogue changes the deviation.
      if (!w.chain()) {
        const WinogradLayer layer = WinogradLayer::Of(w, target);
        EXPECT_LE(error.worst / error.deviation, (layer.Tiles(m).both() ? 1 : 1.2) * layer.Error(m));
      }
      // A smaller error would not be single precision: the test would test nothing.
      EXPECT_GE(error.worst / error.deviation, 1e-8);
    }
  }
  EXPECT_LE(WinogradErrorBound(2), 2e-5);
  EXPECT_LE(WinogradErrorBound(4), 1e-4);
  EXPECT_LE(WinogradErrorBound(6), 3e-4);
}

// A best file may use any m that is exact enough; only templates judge whether it is fast.
TEST_F(WinogradTest, ComputesAlsoWhatNoTemplateOffers) {
  const Target target = HostWith(64, 32, 2);
  for (const auto& [text, m] :
       std::vector<std::pair<const char*, int64_t>>{{"conv2d(f32[1,16,1,1], f32[16,16,3,3], pad=1)", 2},
                                                    {"conv2d(f32[1,17,5,7], f32[9,17,3,3], pad=1) + bias", 3},
                                                    {"conv2d(f32[1,16,12,12], f32[16,16,3,3], pad=1) + relu", 5},
                                                    {"conv2d(f32[1,16,2,2], f32[16,16,3,3], pad=1)", 6}}) {
    SCOPED_TRACE(text);
    const ReferenceCase c = MakeReferenceCase(text, target);
    const WinogradLayer layer = WinogradLayer::Of(c.workload, target);
    const std::vector<int64_t> offered = layer.Sizes();
    EXPECT_EQ(std::count(offered.begin(), offered.end(), m), 0);
    const Error error = Run(c, target, {{"winograd", {{"m", m}, {"tiles", layer.Tiles(m).count}}}, {}});
    EXPECT_LE(error.worst, WinogradErrorBound(m) * std::max(error.deviation, 0.5));
  }
  for (const auto& [text, m] :
       std::vector<std::pair<const char*, int64_t>>{{"conv2d(f32[1,16,28,28], f32[16,16,7,7], pad=3)", 2},
                                                    {"conv2d(f32[1,16,28,28], f32[16,16,5,5], pad=2)", 6},
                                                    {"conv2d(f32[1,16,28,28], f32[16,16,3,3], pad=1)", 7},
                                                    {"conv2d(f32[1,16,28,28], f32[16,16,3,3], pad=1)", 1},
                                                    {"conv2d(f32[1,16,28,28], f32[16,16,1,1])", 2}}) {
    const Algorithm algorithm{"winograd", {{"m", m}, {"tiles", 1024}}};
    EXPECT_THAT(Compute(Must(ParseChecked(text)), target, algorithm).status().message(),
                HasSubstr("cannot be computed by winograd"))
        << text << " " << m;
  }
}

TEST(WinogradSpace, AppliesWhereItSavesMultiplications) {
  const Target target = HostWith(64, 32, 2);
  for (const auto& [text, applies] : std::vector<std::pair<const char*, bool>>{
           {"conv2d(f32[1,16,7,7], f32[16,16,3,3], pad=1)", true},
           {"conv2d(f32[1,16,2,2], f32[16,16,3,3], pad=1)", true},
           {"conv2d(f32[1,16,1,1], f32[16,16,3,3], pad=1)", false},  // 16 products for 9
           {"conv2d(f32[1,16,28,28], f32[16,16,3,3], stride=2, pad=1)", true},
           {"conv2d(f32[1,16,9,9], f32[16,16,1,3])", true},
           {"conv2d(f32[1,16,9,9], f32[16,16,7,1], pad=3,0,3,0)", true},
           {"conv2d(f32[1,16,9,9], f32[16,16,5,5], pad=2)", true},
           {"conv2d(f32[1,16,28,28], f32[16,16,7,7], stride=2, pad=3)", true},
           {"conv2d(f32[1,16,28,28], f32[16,16,3,7], pad=1,3,1,3)", true},
           // Here F(2x2) would be less accurate than the bound.
           {"conv2d(f32[1,16,28,28], f32[16,16,7,7], pad=3)", false},
           {"conv2d(f32[1,16,28,28], f32[16,16,5,7], pad=2,3,2,3)", false},
           {"conv2d(f32[1,16,28,28], f32[16,16,6,6])", false},
           {"conv2d(f32[1,16,9,9], f32[16,16,1,1])", false},
           {"conv2d(f32[1,16,9,9], f32[16,16,1,3], stride=2)", false},
           {"conv2d(f32[1,16,9,9], f32[16,16,3,3], stride=3)", false},
           {"conv2d(f32[1,16,9,9], f32[16,16,3,3], stride=1x2)", false},
           {"conv2d(f32[1,16,7,7], f32[16,16,3,3], dilation=2, pad=2)", false},
           {"conv2d(f32[1,16,7,7], f32[16,8,3,3], groups=2, pad=1)", false},
           {"conv2d(f32[1,3,7,7], f32[16,3,3,3], pad=1, in=nchw)", false}}) {
    EXPECT_EQ(WinogradApplies(*ParseChecked(text), target), applies) << text;
  }
}

TEST(WinogradSpace, LongSumsLeaveOutWhatWouldBeInexact) {
  const Target target = HostWith(64, 32, 2);
  using Sizes = std::vector<int64_t>;
  const auto sizes = [&](const char* text) { return WinogradLayer::Of(*ParseChecked(text), target).Sizes(); };
  EXPECT_EQ(sizes("conv2d(f32[1,224,28,28], f32[64,224,7,7], stride=2, pad=3)"), (Sizes{2, 4}));
  EXPECT_EQ(sizes("conv2d(f32[1,384,28,28], f32[64,384,7,7], stride=2, pad=3)"), (Sizes{2}));
  EXPECT_EQ(sizes("conv2d(f32[1,512,28,28], f32[64,512,7,7], stride=2, pad=3)"), (Sizes{2}));
  EXPECT_FALSE(WinogradApplies(*ParseChecked("conv2d(f32[1,2048,28,28], f32[64,2048,7,7], stride=2, pad=3)"), target));
  // No layer of real networks loses its sizes.
  EXPECT_EQ(sizes("conv2d(f32[1,2048,7,7], f32[64,2048,3,3], pad=1)"), (Sizes{2, 4, 6}));
  EXPECT_EQ(sizes("conv2d(f32[1,512,28,28], f32[64,512,3,3], stride=2, pad=1)"), (Sizes{2, 4}));
  EXPECT_EQ(sizes("conv2d(f32[1,512,28,28], f32[64,512,5,5], pad=2)"), (Sizes{2, 4}));
  EXPECT_EQ(sizes("conv2d(f32[1,768,17,17], f32[64,768,1,7], pad=0,3,0,3)"), (Sizes{2, 3, 4}));
}

// A layer with simulated errors: 2.0e-5 with 64 channels, 4.4e-5 with 256, in standard deviations of the output; and
// consequences of the definition: errors grow with the root of the sum, in the same way for rows and columns.
TEST(WinogradSpace, ExpectsNoLessThanTheErrorsThatWereSimulated) {
  const WinogradAxis seven{2, 7, 1}, three{4, 3, 1}, one{1, 1, 1};
  for (const auto& [channels, simulated] : {std::pair(64, 2.0e-5), std::pair(256, 4.4e-5)}) {
    EXPECT_GE(WinogradError(seven, seven, channels), simulated);
    EXPECT_LE(WinogradError(seven, seven, channels), 1.3 * simulated);
  }
  EXPECT_DOUBLE_EQ(WinogradError(three, three, 400), 2 * WinogradError(three, three, 100));
  EXPECT_DOUBLE_EQ(WinogradError(seven, three, 64), WinogradError(three, seven, 64));
  // Without a transform: a sum like any other.
  EXPECT_NEAR(WinogradError(one, one, 100), 21.5 * 0x1p-24, 1e-12);
  // F(2, 3) by hand. A^T = 1 1 1 0 / 0 1 -1 1; squares of B^T's rows 2, 2, 2, 2; of G's 1, 3/4, 3/4, 1.
  const WinogradAxis small{2, 3, 1};
  EXPECT_NEAR(WinogradError(small, one, 1), 2.15 * 0x1p-24 * std::sqrt((2 * 1 + 2 * 0.75 + 2 * 0.75) / 3), 1e-12);
}

TEST(WinogradSpace, NumericsLimitItWithoutMovingAnIndex) {
  Target target = HostWith(64, 32, 2);
  Workload w = *ParseChecked("conv2d(f32[1,32,24,24], f32[32,32,3,3], pad=1)");
  const propose::Proposers templates = *propose::ProposersOf(w, target, propose::Mode::kTemplates);
  search::TaskSpace all = *propose::MakeTaskSpace(templates);
  uint64_t direct = all.spaces()[0].size();
  for (int cap : {0, 2, 4, 6}) {
    search::TaskSpace capped = *propose::MakeTaskSpace(templates, {.winograd = cap});
    ASSERT_EQ(capped.size(), all.size());
    for (uint64_t i = direct; i < all.size(); i += 7) {
      Config c = all.At(i);
      EXPECT_EQ(capped.At(i).Text(), c.Text());
      std::optional<std::string> why = all.Reject(i), why_capped = capped.Reject(i);
      EXPECT_EQ(!why_capped.has_value(), !why.has_value() && c.Number("m") <= cap) << c.Text();
      if (why_capped && !why) {
        EXPECT_EQ(why_capped->rfind("numerics:", 0), 0u) << *why_capped;
      }
    }
  }
}

TEST(WinogradSpace, FetchesWhatIsAStream) {
  Target target = HostWith(64, 32, 2);
  target.vector_bytes = 64, target.vector_registers = 32;
  auto words = [&](const char* text) {
    std::set<std::string> found;
    search::Space space = *Conv2dWinograd().MakeSpace(*ParseChecked(text), target);
    for (uint64_t i = 0; i < space.size(); ++i) {
      Config c = space.At(i);
      if (space.Reject(c)) continue;
      found.insert(c.Word("prefetch"));
      // In the other form, an element's weights of some channels are followed by those of other tasks' channels.
      const bool stream = c.Word("form") == "oc_xi" || c.Number("oc_block") == 16;
      EXPECT_TRUE(c.Word("prefetch") != "far" || stream) << c.Text();
    }
    return found;
  };
  using Words = std::set<std::string>;
  EXPECT_EQ(words("conv2d(f32[1,256,14,14], f32[256,256,3,3], pad=1)"), (Words{"near", "far"}));
  EXPECT_EQ(words("conv2d(f32[1,256,28,28], f32[256,256,3,3], stride=2, pad=1)"), (Words{"none", "near"}));
  EXPECT_EQ(words("conv2d(f32[1,32,28,28], f32[32,32,3,3], pad=1)"), (Words{"none"}));  // 64 KB stay near a core
}

// The distance is whole elements, and the loops have room for the lines: otherwise there would be no prefetch.
TEST(WinogradSpace, FarPrefetchIsThere) {
  Target target = HostWith(64, 32, 2);
  Workload w = *ParseChecked("conv2d(f32[1,128,28,28], f32[128,128,3,3], pad=1)");
  search::Space space = *Conv2dWinograd().MakeSpace(w, target);
  uint64_t index = 0;
  auto like = [&](const Config& c) {
    return c.Number("m") == 4 && c.Number("ocv") == 2 && c.Word("form") == "oc_xi" && c.Word("prefetch") == "far";
  };
  while (index < space.size() && !(like(space.At(index)) && space.Legal(index))) ++index;
  ASSERT_LT(index, space.size());
  compile::CompileOptions keep{.keep_text = true};
  const Candidate candidate = Must(Conv2dWinograd().Instantiate(w, target, space.At(index)));
  compile::CompiledKernel kernel = Must(compile::CompileKernel(w, target, candidate, keep));
  // 128 channels x 2 vectors of 64 bytes are 16 KB: two elements ahead.
  EXPECT_THAT(candidate.Text(), HasSubstr("prefetch m weight.packed co.o 32768 2"));
  EXPECT_THAT(kernel.program, HasSubstr("prefetch(weight.packed["));
}

// The first part of the estimate is the register tiles' cycles relative to a direct convolution's ideal ones. Even
// tiles keep both multiply-add units busy, so it equals the share of the multiplications, counted by hand.
TEST(WinogradEstimate, CountsTheMultiplications) {
  Target target = HostWith(64, 32, 2);
  target.vector_bytes = 64, target.vector_registers = 32;
  struct Case {
    const char* workload;
    int64_t m, tiles, block;
    double share;
  };
  const Case cases[] = {
      {"conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1)", 4, 14, 98, 36.0 / 144},
      {"conv2d(f32[3,64,56,56], f32[64,64,3,3], pad=1)", 4, 14, 196, 36.0 / 144},
      {"conv2d(f32[8,64,8,8], f32[64,64,3,3], pad=1)", 4, 8, 16, 36.0 / 144},  // a task has four images
      {"conv2d(f32[1,64,28,28], f32[64,64,5,5], pad=2)", 2, 14, 98, 36.0 / 100},
      {"conv2d(f32[1,64,28,28], f32[64,64,1,7], pad=0,3,0,3)", 4, 14, 98, 10.0 / 28},
      {"conv2d(f32[1,64,56,56], f32[64,64,3,3], stride=2, pad=1)", 4, 7, 49, 81.0 / 144},
      {"conv2d(f32[1,64,56,56], f32[64,64,3,3], stride=2, pad=1)", 2, 14, 98, 25.0 / 36},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.workload);
    Config config{.template_name = "conv2d_winograd"};
    auto number = [&](const char* name, int64_t value) {
      KnobValue v;
      v.name = name, v.kind = KnobKind::kOther, v.numbers = {value};
      config.values.push_back(std::move(v));
    };
    number("m", c.m), number("ocv", 2), number("tiles", c.tiles), number("oc_block", 4), number("block", c.block);
    std::vector<double> estimate = propose::EstimatesOf(*ParseChecked(c.workload), target)(config);
    ASSERT_EQ(estimate.size(), FindEstimate(target, "conv2d_winograd")->names.size());
    EXPECT_NEAR(std::exp(estimate[1]) - 1, c.share, 0.1 * c.share);
  }
}

TEST(WinogradSpace, HasAFewHundredPointsWithTheRecipesAmongThem) {
  struct Recipe {
    const char* workload;
    int64_t m, least_block, most_block, oc_block;
    const char* form;
  };
  const Recipe recipes[] = {
      {"conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1) + bias + relu", 4, 14, 56, 4, "xi_oc"},
      {"conv2d(f32[1,128,28,28], f32[128,128,3,3], pad=1)", 4, 13, 25, 8, "xi_oc"},
      {"conv2d(f32[1,256,14,14], f32[256,256,3,3], pad=1)", 4, 16, 16, 8, "oc_xi"},
      {"conv2d(f32[1,512,7,7], f32[512,512,3,3], pad=1)", 2, 16, 16, 16, "oc_xi"},
      {"conv2d(f32[1,512,14,14], f32[512,512,3,3], pad=1)", 2, 49, 49, 16, "oc_xi"},
      {"conv2d(f32[1,512,28,28], f32[512,512,3,3], pad=1)", 4, 25, 25, 32, "oc_xi"},  // 7 x 7 tiles in two tasks
      {"conv2d(f32[8,512,7,7], f32[512,512,3,3], pad=1)", 2, 64, 128, 16, "oc_xi"},   // tiles of several images
      {"conv2d(f32[1,192,17,17], f32[192,192,1,7], pad=0,3,0,3)", 4, 40, 43, 12, "oc_xi"},
      {"conv2d(f32[1,48,35,35], f32[64,48,5,5], pad=2)", 4, 9, 41, 4, "oc_xi"},
      {"conv2d(f32[1,64,56,56], f32[128,64,3,3], stride=2, pad=1)", 4, 12, 49, 8, "oc_xi"},
  };
  Target target = HostWith(64, 32, 2);
  target.vector_bytes = 64, target.vector_registers = 32;
  for (const Recipe& recipe : recipes) {
    SCOPED_TRACE(recipe.workload);
    search::Space space = *Conv2dWinograd().MakeSpace(*ParseChecked(recipe.workload), target);
    int legal = 0, like_recipe = 0;
    for (uint64_t i = 0; i < space.size(); ++i) {
      Config c = space.At(i);
      if (space.Reject(c)) continue;
      ++legal;
      like_recipe += c.Number("m") == recipe.m && c.Number("block") >= recipe.least_block &&
                     c.Number("block") <= recipe.most_block && c.Number("oc_block") == recipe.oc_block &&
                     c.Word("form") == recipe.form;
    }
    EXPECT_GE(legal, 20);
    EXPECT_LE(legal, 1500);
    EXPECT_GE(like_recipe, 1);
  }
}

}  // namespace
}  // namespace hone::op
