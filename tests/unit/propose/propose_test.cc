// Templates and sketches of a task together: which there are, in which order, and what is made of their points.
#include "propose/propose.h"

#include <fmt/format.h>

#include <map>

#include "base/rng.h"
#include "common/expect.h"
#include "graph/networks.h"
#include "graph/normalise.h"
#include "op/numerics.h"
#include "propose/versions.h"
#include "unit/propose/cpu.h"

namespace hone::propose {
namespace {

constexpr char kMatmul[] = "matmul(f32[2,64,32], f32[2,32,64])";
constexpr char kColumn[] = "matmul(f32[2,64,32], f32[2,32,1])";
constexpr char kConv[] = "conv2d(f32[1,16,8,8], f32[16,16,3,3])";
constexpr char kPooled[] =
    "conv2d(f32[1,16,24,24], f32[16,16,3,3], pad=1,1,1,1) -> max_pool2d(f32[1,16,24,24], kernel=2x2, stride=2x2)";
constexpr char kGroups[] = "conv2d(f32[1,57,7,7], f32[38,3,3,3], groups=19)";
constexpr char kDense[] = "dense(f32[2,8], f32[4,8])";

std::vector<std::string> Names(const char* workload, const Target& target, Mode mode = Mode::kBoth) {
  std::vector<std::string> names;
  for (const Proposer& p : Must(ProposersOf(Must(op::ParseChecked(workload)), target, mode))) names.push_back(p.name());
  return names;
}

TEST(Propose, AFixedScheduleIsForTasksWithoutASketch) {
  using List = std::vector<std::string>;
  EXPECT_EQ(Names(kMatmul, Cpu()), List{"sums"});
  EXPECT_EQ(Names(kColumn, Cpu()), List{"rows"});
  EXPECT_EQ(Names(kConv, Cpu()), (List{"sums", "transformed_m2", "transformed_m4", "transformed_m6"}));
  EXPECT_EQ(Names(kGroups, Cpu()), List{"conv2d_grouped_generic"}) << "`direct` multiplies by zeros";
  EXPECT_EQ(Names(kMatmul, *Target::Parse("opencl")), (List{"batch_matmul.cuda", "gpu_sums"}));
  EXPECT_EQ(Names("relu(f32[1,16,8,8])", *Target::Parse("opencl")), List{"gpu_stages"});
  EXPECT_EQ(
      ProposersOf(Must(op::ParseChecked(
                      "conv2d(f32[1,16,8,8], f32[16,16,1,1]) -> conv2d(f32[1,16,8,8], f32[16,1,3,3], groups=16)")),
                  *Target::Parse("opencl"))
          .status()
          .kind(),
      StatusKind::kUnsupported);
}

// A tile has one index of an axis that decides what is skipped, or the whole row.
TEST(Propose, TilesKnowWhatTheySkip) {
  using List = std::vector<std::string>;
  const auto rows = [](const char* workload) {
    const Proposer first = Must(ProposersOf(Must(op::ParseChecked(workload)), Cpu()))[0];
    EXPECT_EQ(first.name(), "sums_skip") << workload;
    List values;
    for (const search::Knob& knob : first.sketch()->decisions) {
      if (!knob.name().ends_with("rows") || knob.name() == "block_rows") continue;
      for (size_t i = 0; i < knob.size(); ++i) values.push_back(knob.name() + "=" + knob.value(i).Text());
    }
    return values;
  };
  EXPECT_EQ(rows("conv2d(f32[1,16,14,14], f32[16,16,3,3], pad=12,12,12,12, dilation=12x12)"),
            (List{"rows=14", "outer_rows=1"}));
  EXPECT_THAT(rows("conv2d(f32[1,16,56,56], f32[16,16,3,3], pad=48,48,48,48, dilation=48x48)"),
              testing::AllOf(testing::Contains("rows=7"), testing::Contains("outer_rows=1"),
                             Not(testing::Contains("outer_rows=2"))));
  EXPECT_EQ(rows("conv2d(f32[1,16,60,1], f32[16,16,3,1], pad=24,0,24,0, dilation=24x1)"), List{"rows=1"});
  EXPECT_EQ(Names("conv2d(f32[1,64,1,64], f32[64,64,1,3], pad=0,24,0,24, dilation=1x24)", Cpu())[0], "sums")
      << "no row is outside, and the columns do not fit";
}

TEST(Propose, AModeWithoutProposersHasTheOthers) {
  using List = std::vector<std::string>;
  EXPECT_EQ(Names(kDense, Cpu(), Mode::kTemplates), List{"dense_packed"});
  EXPECT_EQ(Names(kDense, Cpu(), Mode::kSketches), List{"sums"});
  EXPECT_EQ(Names(kConv, Cpu(), Mode::kSketches), (List{"sums", "transformed_m2", "transformed_m4", "transformed_m6"}));
  EXPECT_EQ(Names(kMatmul, Cpu(), Mode::kTemplates), List{"sums"});
  EXPECT_EQ(Names(kGroups, Cpu(), Mode::kSketches), List{"conv2d_grouped_generic"});
  // Its only sketches are Winograd's, which limits on numerics may forbid.
  const List pooled = {"chain_conv2d_pool", "transformed_m2", "transformed_m4", "transformed_m6"};
  EXPECT_EQ(Names(kPooled, Cpu(), Mode::kBoth), pooled);
  EXPECT_EQ(Names(kPooled, Cpu(), Mode::kSketches), pooled);
  EXPECT_EQ(Names(kPooled, Cpu(), Mode::kTemplates), List{"chain_conv2d_pool"});
}

TEST(Propose, NumericsRejectSketchesOfAnAlgorithm) {
  const Workload w = *op::ParseChecked(kConv);
  const auto why = [&](const Proposer& p, int winograd) {
    const search::Space space = Must(p.MakeSpace({.winograd = winograd}));
    return space.Reject(Must(p.Default(Must(p.MakeSpace())))).value_or("");
  };
  const Proposers sketches = Must(ProposersOf(w, Cpu(), Mode::kSketches));
  EXPECT_EQ(why(sketches[0], 0), "");
  EXPECT_EQ(why(sketches[1], 6), "");
  EXPECT_EQ(why(sketches[1], 2), "");
  EXPECT_EQ(why(sketches[1], 0), "numerics: winograd is off");
  EXPECT_EQ(why(sketches[3], 6), "");
  EXPECT_EQ(why(sketches[3], 4), "numerics: m=6 is less exact than m=4");
  // A point says its algorithm, so that the record rebuilds the kernel.
  const search::Space space = Must(sketches[3].MakeSpace());
  const Config config = Must(sketches[3].Default(space));
  const Candidate candidate = Must(sketches[3].Instantiate(space, config));
  EXPECT_EQ(candidate.algorithm, (Algorithm{"winograd", {{"m", 6}, {"tiles", 1}}}));
  Outcome outcome;
  outcome.config = config, outcome.steps = candidate.Text();
  EXPECT_EQ(Must(CandidateOf(w, Cpu(), outcome)), candidate);
  outcome.config.template_name = "transformed_m12";  // of a version with other algorithms
  EXPECT_EQ(Must(CandidateOf(w, Cpu(), outcome)), candidate);
  EXPECT_TRUE(op::Forbidden(w, Cpu(), {.winograd = 4}, outcome).has_value());
}

TEST(Propose, WhatHasAChoiceIsTunable) {
  for (const char* text :
       {kMatmul, kColumn, kConv, "dense(f32[1,16], f32[16,16])", "conv2d(f32[1,16,8,8], f32[16,1,3,3], groups=16)"}) {
    EXPECT_TRUE(Tunable(*op::ParseChecked(text), Cpu())) << text;
  }
  // The third scales and shifts channels.
  for (const char* text : {"global_avg_pool(f32[1,16,8,8])", "relu(f32[1,16,8,8])",
                           "conv2d(f32[1,16,8,8], f32[16,1,1,1], groups=16) + bias + relu", kGroups}) {
    EXPECT_FALSE(Tunable(*op::ParseChecked(text), Cpu())) << text;
  }
}

// The tasks of a network, as hone-extract lists them without alternatives.
std::map<std::string, int> TasksOf(const char* network, Layout layout) {
  graph::Graph graph = Must(graph::BuildNetwork(network, 1));
  Must(graph::Normalise(&graph, layout));
  std::map<std::string, int> tasks;
  for (const graph::Node& node : graph.nodes) {
    const Workload workload = Must(op::ParseChecked(node.workload.Text()));
    if (Tunable(workload, Cpu())) ++tasks[workload.Text()];
  }
  return tasks;
}

TEST(Propose, TheTasksOfResNet18V2WithChannelsLast) {
  const std::string tail = ", layout=nhwc)";
  std::map<std::string, int> expected = {
      {"conv2d(f32[1,3,224,224], f32[64,3,7,7], stride=2x2, pad=3,3,3,3, layout=nhwc) + bias + relu", 1},
      {"dense(f32[1,512], f32[1000,512]) + bias", 1},
      {"softmax(f32[1,1000])", 1}};
  for (int64_t c = 64, extent = 56; c <= 512; c *= 2, extent /= 2) {
    const auto conv = [&](int64_t in, int64_t size, int64_t k, const char* more) {
      return fmt::format("conv2d(f32[1,{0},{1},{1}], f32[{2},{0},{3},{3}]{4}{5}", in, size, c, k, more, tail);
    };
    const int64_t before = c == 64 ? 64 : c / 2, size = c == 64 ? extent : 2 * extent;
    expected[conv(c, extent, 3, ", pad=1,1,1,1") + " + bias + relu"] = c == 64 ? 2 : 1;
    expected[conv(c, extent, 3, ", pad=1,1,1,1") + " + add"] = 2;
    expected[conv(before, size, 1, c == 64 ? "" : ", stride=2x2")] = 1;
    if (c > 64) expected[conv(before, size, 3, ", stride=2x2, pad=1,1,1,1") + " + bias + relu"] = 1;
  }
  EXPECT_EQ(expected.size(), 3 + 4 * 2 + 4 + 3u);
  EXPECT_EQ(TasksOf("resnet18_v2", Layout::kChannelsLast), expected);
}

TEST(Propose, LayoutsHaveSketchesOfTheirOwn) {
  using List = std::vector<std::string>;
  for (const char* layout : {"plain", "nhwc"}) {
    EXPECT_EQ(Names(fmt::format("conv2d(f32[1,16,8,8], f32[16,16,3,3], layout={})", layout).c_str(), Cpu()),
              List{"sums"});
  }
  EXPECT_EQ(Names("conv2d(f32[1,16,8,8], f32[16,1,3,3], groups=16, layout=nhwc)", Cpu()), List{"sums"});
  EXPECT_EQ(Names("conv2d(f32[1,16,8,8], f32[16,4,3,3], groups=4, layout=nhwc)", Cpu()), List{"stages"});
  EXPECT_EQ(Names("max_pool2d(f32[1,32,8,8], kernel=3x3, layout=nhwc)", Cpu()), List{"windows"});
  EXPECT_EQ(Names("max_pool2d(f32[1,17,8,8], kernel=3x3, layout=nhwc)", Cpu()), List{"stages"});
  EXPECT_EQ(Names("global_avg_pool(f32[1,17,8,8], layout=nhwc)", Cpu()), List{"rows"});
  EXPECT_EQ(Names("lrn(f32[1,17,8,8], size=3, layout=nhwc)", Cpu()), List{"stages"});
}

TEST(Propose, BytesHaveTheSketchesOfFloats) {
  using List = std::vector<std::string>;
  EXPECT_EQ(Names("conv2d(u8[1,16,8,8], i8[16,1,3,3], u8[1], groups=16) + requant(u8)", Cpu()),
            List({"windows", "windows_lanes"}));  // without padding, sums of the stored bytes too
  EXPECT_EQ(Names("conv2d(u8[1,16,8,8], i8[16,1,3,3], pad=1,1,1,1, groups=16)", Cpu()), List{"windows_lanes"});
  EXPECT_EQ(Names("conv2d(i8[1,64,8,8], i8[64,4,3,3], pad=1,1,1,1, groups=16)", Cpu()), List{"windows_lanes"});
  EXPECT_EQ(Names("conv2d(u8[1,16,8,8], i8[16,1,3,3], groups=16, layout=nhwc)", Cpu()), List{"sums"});
  for (const char* type : {"u8", "i8", "i32"}) {
    EXPECT_EQ(Names(fmt::format("max_pool2d({}[1,32,8,8], kernel=3x3)", type).c_str(), Cpu()), List{"windows"});
    EXPECT_EQ(Names(fmt::format("global_max_pool({}[1,32,8,8])", type).c_str(), Cpu()), List{"rows"});
  }
  EXPECT_EQ(Names("avg_pool2d(u8[1,32,8,8], u8[1], kernel=3x3)", Cpu()), List{"windows"});
  EXPECT_EQ(Names("avg_pool2d(u8[1,32,8,8], u8[1], kernel=3x3, layout=nhwc)", Cpu()), List{"windows"});
  EXPECT_EQ(Names("global_avg_pool(i8[1,32,8,8], i8[1])", Cpu()), List{"rows"});
}

TEST(Propose, EveryPointOfTheUnionBecomesItsProposersCandidate) {
  for (const char* text : {kMatmul, kConv}) {
    const Workload w = *op::ParseChecked(text);
    const Proposers proposers = Must(ProposersOf(w, Cpu()));
    const search::TaskSpace space = Must(MakeTaskSpace(proposers));
    EXPECT_EQ(Must(DefaultConfig(w, Cpu())).template_name, proposers[0].name());
    Rng rng(1);
    for (int i = 0; i < 20; ++i) {
      const Config config = space.At(*space.SampleLegal(rng));
      const Candidate candidate = Must(Instantiate(proposers, space, config));
      EXPECT_EQ(candidate, Must(Instantiate(w, Cpu(), config))) << config.Text();
      EXPECT_FALSE(candidate.steps.empty());
      EXPECT_FALSE(EstimatesOf(w, Cpu())(config).empty()) << config.Text();
    }
  }
}

TEST(Propose, ARecordOutlivesItsProposer) {
  const Workload w = *op::ParseChecked(kMatmul);
  Outcome outcome;
  outcome.config.template_name = "sumz";
  EXPECT_EQ(Instantiate(w, Cpu(), outcome.config).status().message(),
            std::string(kMatmul) + " has no template or sketch `sumz` for this target; did you mean `sums`?");
  outcome.steps = "parallel out n\n";
  EXPECT_EQ(Must(CandidateOf(w, Cpu(), outcome)).steps, Must(ParseSteps(outcome.steps)));
  EXPECT_TRUE(EstimatesOf(w, Cpu())(outcome.config).empty());
  // Nor does the rule of today decide what a trial of a sketch was.
  outcome.config = Must(DefaultConfig(w, Cpu()));
  ASSERT_EQ(outcome.config.template_name, "sums");
  EXPECT_EQ(Must(CandidateOf(w, Cpu(), outcome)).Text(), outcome.steps);
  outcome.steps = "of another time";
  EXPECT_EQ(Must(CandidateOf(w, Cpu(), outcome)), Must(Instantiate(w, Cpu(), outcome.config)));
}

// Records may have points of other spaces, or of a sketch of a user's.
TEST(Propose, OnlyPointsOfASpaceHaveAnEstimate) {
  const auto estimate = [](const char* workload, const Config& config) {
    return EstimatesOf(*op::ParseChecked(workload), Cpu())(config);
  };
  EXPECT_TRUE(estimate("max_pool2d(f32[1,16,8,8], kernel=2x2)", Config{"rows", 0, {}}).empty());
  EXPECT_TRUE(estimate(kColumn, Config{"rows", 0, {}}).empty());
  EXPECT_TRUE(estimate(kMatmul, Config{"sums", 0, {}}).empty());
  Config config = Must(DefaultConfig(*op::ParseChecked(kMatmul), Cpu()));
  EXPECT_FALSE(estimate(kMatmul, config).empty());
  config.values[0].numbers[0] = 0;
  EXPECT_TRUE(estimate(kMatmul, config).empty());
}

TEST(Propose, VersionsAreOfEveryProposer) {
  EXPECT_EQ(Must(TaskSpaceVersion(*op::ParseChecked(kMatmul), Cpu())), "sums=2");
  EXPECT_EQ(Must(VersionsOf(*op::ParseChecked(kMatmul), Cpu())), (TemplateVersions{{"sums", 2}}));
}

}  // namespace
}  // namespace hone::propose
