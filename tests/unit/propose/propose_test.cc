// Templates and sketches of a task together: which there are, in which order, and what is made of their points.
#include "propose/propose.h"

#include "base/rng.h"
#include "common/expect.h"
#include "propose/versions.h"
#include "unit/propose/cpu.h"

namespace hone::propose {
namespace {

constexpr char kMatmul[] = "matmul(f32[2,64,32], f32[2,32,64])";
constexpr char kColumn[] = "matmul(f32[2,64,32], f32[2,32,1])";
constexpr char kConv[] = "conv2d(f32[1,16,8,8], f32[16,16,3,3])";
constexpr char kGroups[] = "conv2d(f32[1,57,7,7], f32[38,3,3,3], groups=19)";

std::vector<std::string> Names(const char* workload, const Target& target, Mode mode = Mode::kBoth) {
  std::vector<std::string> names;
  for (const Proposer& p : Must(ProposersOf(Must(op::ParseChecked(workload)), target, mode))) names.push_back(p.name());
  return names;
}

TEST(Propose, AFixedScheduleIsForTasksWithoutASketch) {
  using List = std::vector<std::string>;
  EXPECT_EQ(Names(kMatmul, Cpu()), List{"sums"});
  EXPECT_EQ(Names(kColumn, Cpu()), List{"rows"});
  EXPECT_EQ(Names(kConv, Cpu()), (List{"conv2d_direct", "conv2d_winograd", "sums"}));
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

TEST(Propose, AModeWithoutProposersHasTheOthers) {
  using List = std::vector<std::string>;
  EXPECT_EQ(Names(kConv, Cpu(), Mode::kTemplates), (List{"conv2d_direct", "conv2d_winograd"}));
  EXPECT_EQ(Names(kConv, Cpu(), Mode::kSketches), List{"sums"});
  EXPECT_EQ(Names(kMatmul, Cpu(), Mode::kTemplates), List{"sums"});
  EXPECT_EQ(Names(kGroups, Cpu(), Mode::kSketches), List{"conv2d_grouped_generic"});
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
