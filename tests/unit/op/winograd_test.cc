// Winograd: kernels of its sketches compared with conv2d's reference over odd shapes; accuracy; spaces.
#include "base/rng.h"
#include "op/conv/conv2d_winograd.h"
#include "op/conv/winograd_layer.h"
#include "op/numerics.h"
#include "propose/propose.h"
#include "task/step.h"
#include "unit/op/kernel_fixture.h"

namespace hone::op {
namespace {

struct Error {
  double worst = 0, deviation = 0;  // the largest difference; the standard deviation of the reference
};

bool Applies(const std::string& text, const Target& target) {
  return !WinogradAlgorithms(*ParseChecked(text), target).empty();
}

// The sketches of Winograd, by the outputs of a tile.
std::map<int64_t, propose::Proposer> Sketches(const Workload& workload, const Target& target) {
  std::map<int64_t, propose::Proposer> sketches;
  for (propose::Proposer& p : Must(propose::ProposersOf(workload, target))) {
    if (p.sketch() == nullptr || p.sketch()->algorithm.name != "winograd") continue;
    sketches.emplace(p.sketch()->algorithm.Number("m", 0), std::move(p));
  }
  return sketches;
}

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

  // The point with the least estimate and a random one of each m, in both forms if the layer has them.
  void Check(const std::string& text, const Target& target) {
    SCOPED_TRACE(text);
    const ReferenceCase c = MakeReferenceCase(text, target);
    const std::map<int64_t, propose::Proposer> sketches = Sketches(c.workload, target);
    EXPECT_EQ(sketches.size(), WinogradLayer::Of(c.workload, target).Sizes().size());
    EXPECT_FALSE(sketches.empty());
    Rng rng(std::hash<std::string>()(text));
    for (const auto& [m, p] : sketches) {
      const search::Space space = Must(p.MakeSpace());
      std::vector<Config> configs = {Must(p.Default(space))};
      for (int i = 0; i < 20 && configs.size() < 2; ++i) {
        Config config = space.At(space.SampleLegal(rng).value());
        if (i == 19 || config.Word("form") != configs[0].Word("form")) configs.push_back(std::move(config));
      }
      for (const Config& config : configs) {
        SCOPED_TRACE(config.Text());
        const Error error = Run(c, target, Must(p.Instantiate(space, config)));
        // Small outputs have a small deviation relative to their size; errors are of the size of the sums.
        EXPECT_LE(error.worst, WinogradErrorBound(m) * std::max(error.deviation, 0.5));
      }
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
    const std::map<int64_t, propose::Proposer> sketches = Sketches(w, target);
    EXPECT_FALSE(sketches.empty());
    for (const auto& [m, p] : sketches) {
      SCOPED_TRACE("m=" + std::to_string(m));
      const search::Space space = Must(p.MakeSpace());
      const Error error = Run(c, target, Must(p.Instantiate(space, Must(p.Default(space)))));
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

// A best file may use any m that is exact enough; only the list of algorithms judges whether it is fast.
TEST_F(WinogradTest, ComputesAlsoWhatNoSketchOffers) {
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
    EXPECT_EQ(Applies(text, target), applies) << text;
  }
}

TEST(WinogradSpace, LongSumsLeaveOutWhatWouldBeInexact) {
  const Target target = HostWith(64, 32, 2);
  using Sizes = std::vector<int64_t>;
  const auto sizes = [&](const char* text) { return WinogradLayer::Of(*ParseChecked(text), target).Sizes(); };
  EXPECT_EQ(sizes("conv2d(f32[1,224,28,28], f32[64,224,7,7], stride=2, pad=3)"), (Sizes{2, 4}));
  EXPECT_EQ(sizes("conv2d(f32[1,384,28,28], f32[64,384,7,7], stride=2, pad=3)"), (Sizes{2}));
  EXPECT_EQ(sizes("conv2d(f32[1,512,28,28], f32[64,512,7,7], stride=2, pad=3)"), (Sizes{2}));
  EXPECT_FALSE(Applies("conv2d(f32[1,2048,28,28], f32[64,2048,7,7], stride=2, pad=3)", target));
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
  int sizes = 0;
  for (const auto& [m, p] : Sketches(w, target)) {
    const search::Space all = Must(p.MakeSpace());
    for (int cap : {0, 2, 4, 6}) {
      const search::Space capped = Must(p.MakeSpace({.winograd = cap}));
      ASSERT_EQ(capped.size(), all.size());
      for (uint64_t i = 0; i < all.size(); i += 7) {
        const Config c = all.At(i);
        EXPECT_EQ(capped.At(i).Text(), c.Text());
        const std::optional<std::string> why = all.Reject(c), why_capped = capped.Reject(c);
        EXPECT_EQ(!why_capped.has_value(), !why.has_value() && m <= cap) << c.Text();
        if (why_capped && !why) {
          EXPECT_THAT(*why_capped, StartsWith("numerics:"));
        }
      }
    }
    ++sizes;
  }
  EXPECT_EQ(sizes, 3);
  EXPECT_TRUE(WhichNumericsMatter(w, target).winograd);
  EXPECT_FALSE(WhichNumericsMatter(*ParseChecked("conv2d(f32[1,32,24,24], f32[32,32,1,1])"), target).winograd);
}

// The distance is whole elements, and the loops have room for the lines: otherwise there would be no prefetch.
TEST(WinogradSpace, FarPrefetchIsThere) {
  Target target = HostWith(64, 32, 2);
  Workload w = *ParseChecked("conv2d(f32[1,128,28,28], f32[128,128,3,3], pad=1)");
  const propose::Proposer p = Sketches(w, target).at(4);
  const search::Space space = Must(p.MakeSpace());
  uint64_t index = 0;
  auto like = [&](const Config& c) {
    return c.Number("vectors") == 2 && c.Word("form") == "channels" && c.Word("prefetch") == "far";
  };
  while (index < space.size() && !(like(space.At(index)) && space.Legal(index))) ++index;
  ASSERT_LT(index, space.size());
  compile::CompileOptions keep{.keep_text = true};
  const Candidate candidate = Must(p.Instantiate(space, space.At(index)));
  compile::CompiledKernel kernel = Must(compile::CompileKernel(w, target, candidate, keep));
  // 128 channels x 2 vectors of 64 bytes are 16 KB: two elements ahead.
  EXPECT_THAT(candidate.Text(), HasSubstr("prefetch m weight.transformed.packed co.o 32768 2"));
  EXPECT_THAT(kernel.program, HasSubstr("prefetch(weight.transformed.packed["));
}

// With many channels, F(4x4, 3x3) takes little more than a quarter of the cycles of a direct convolution.
TEST(WinogradEstimate, CountsTheMultiplications) {
  Target target = HostWith(64, 32, 2);
  const Workload w = *ParseChecked("conv2d(f32[1,256,56,56], f32[256,256,3,3], pad=1)");
  std::map<std::string, double> cycles;
  for (const propose::Proposer& p : Must(propose::ProposersOf(w, target, propose::Mode::kSketches))) {
    const Config best = Must(p.Default(Must(p.MakeSpace())));
    cycles[p.name()] = std::exp(propose::EstimatesOf(w, target)(best).front());
  }
  EXPECT_GE(cycles.at("transformed_m4") / cycles.at("sums"), 0.25);
  EXPECT_LE(cycles.at("transformed_m4") / cycles.at("sums"), 0.45);
  EXPECT_GE(cycles.at("transformed_m2") / cycles.at("sums"), 16.0 / 36);
}

TEST(WinogradSpace, HasManyPointsWithTheRecipesAmongThem) {
  struct Recipe {
    const char* workload;
    int64_t m, least_block, most_block, channels;
    const char* form;
  };
  const Recipe recipes[] = {
      {"conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1) + bias + relu", 4, 14, 56, 4, "elements"},
      {"conv2d(f32[1,128,28,28], f32[128,128,3,3], pad=1)", 4, 13, 25, 8, "elements"},
      {"conv2d(f32[1,256,14,14], f32[256,256,3,3], pad=1)", 4, 16, 16, 8, "channels"},
      {"conv2d(f32[1,512,7,7], f32[512,512,3,3], pad=1)", 2, 16, 16, 16, "channels"},
      {"conv2d(f32[1,512,14,14], f32[512,512,3,3], pad=1)", 2, 49, 50, 16, "channels"},
      {"conv2d(f32[1,512,28,28], f32[512,512,3,3], pad=1)", 4, 25, 25, 32, "channels"},  // 7 x 7 tiles in two tasks
      {"conv2d(f32[8,512,7,7], f32[512,512,3,3], pad=1)", 2, 64, 128, 16, "channels"},   // tiles of several images
      {"conv2d(f32[1,192,17,17], f32[192,192,1,7], pad=0,3,0,3)", 4, 40, 44, 12, "channels"},
      {"conv2d(f32[1,48,35,35], f32[64,48,5,5], pad=2)", 4, 9, 41, 4, "channels"},
      {"conv2d(f32[1,64,56,56], f32[128,64,3,3], stride=2x2, pad=1)", 4, 12, 49, 8, "channels"},
      {"conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1) -> max_pool2d(f32[1,64,56,56], kernel=2, stride=2)", 4, 14, 56,
       4, "elements"},
  };
  const Target target = HostWith(64, 32, 2);
  for (const Recipe& recipe : recipes) {
    SCOPED_TRACE(recipe.workload);
    const search::Space space = Must(Sketches(*ParseChecked(recipe.workload), target).at(recipe.m).MakeSpace());
    int legal = 0, like_recipe = 0;
    for (uint64_t i = 0; i < space.size(); ++i) {
      if (!space.Legal(i)) continue;
      const Config c = space.At(i);
      ++legal;
      like_recipe += c.Number("block") >= recipe.least_block && c.Number("block") <= recipe.most_block &&
                     c.Number("channels") == recipe.channels && c.Word("form") == recipe.form;
    }
    EXPECT_GE(legal, 20);
    EXPECT_LE(legal, 3000);
    EXPECT_GE(like_recipe, 1);
  }
}

}  // namespace
}  // namespace hone::op
