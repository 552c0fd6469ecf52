// Every template and sketch, and every algorithm that its knobs select, over the grid of odd layers.
#include "unit/op/kernel_grid.h"

#include <fmt/format.h>

#include "base/rng.h"
#include "common/emulator.h"
#include "propose/propose.h"
#include "unit/op/kernel_fixture.h"

namespace hone::op {
namespace {

// The part of a knob's value that selects another algorithm: a word.
std::string Algorithm(const std::string& name, const KnobValue& v) {
  return v.words.empty() ? "" : fmt::format("{} {}={}", name, v.name, v.words[0]);
}

// The algorithm of a sketch of tiles, by the kind of window and, in groups, the operator behind it.
std::string TilesOf(const Workload& w, const std::string& name) {
  const std::vector<int64_t>& weight = w.inputs[1].shape;
  return fmt::format("{} {}x{} stride={}{}", name, weight[2], weight[3], w.Numbers("stride", {1})[0],
                     w.chain() ? " " + w.then[0].op : "");
}

// A sketch's rule; the name itself for a template.
std::string RuleOr(const std::string& proposer) {
  const sketch::DerivationRule* rule = sketch::FindRule(proposer);
  return rule == nullptr ? proposer : rule->name;
}

class KernelGridTest : public KernelTest {
 protected:
  // Runs each proposer's default, a random point, and points of algorithms that have not run yet.
  void RunAll(const std::string& text, const Target& target) {
    SCOPED_TRACE(text);
    const ReferenceCase c = MakeReferenceCase(text, target);
    for (const Workload& part : c.workload.Parts()) operators_.insert(part.op);
    for (const propose::Proposer& p : Must(propose::AllProposers(c.workload, target))) {
      search::Space space = Must(p.MakeSpace());
      Config usual = Must(p.Default(space));
      EXPECT_FALSE(space.Reject(usual).has_value()) << usual.Text();
      for (const Config& config : Points(c.workload.Text(), space, usual)) {
        CheckConfig(c, target, config, &pool_);
        ++kernels_;
      }
      run_.insert(RuleOr(p.name()));
      if (p.name().starts_with("transformed_m")) algorithms_.insert(TilesOf(c.workload, p.name()));
    }
  }

  std::vector<Config> Points(const std::string& text, const search::Space& space, const Config& usual) {
    int missing = 0;
    for (const search::Knob& knob : space.knobs()) {
      for (size_t i = 0; i < knob.size(); ++i) {
        const std::string algorithm = Algorithm(RuleOr(space.template_name()), knob.value(i));
        if (algorithm.empty()) continue;
        offered_.insert(algorithm);
        missing += algorithms_.count(algorithm) == 0;
      }
    }
    std::vector<Config> points = {usual};
    missing -= Note(usual);
    Rng rng(std::hash<std::string>()(text));
    for (int i = 0; i < 50 && (i == 0 || missing > 0) && !space.knobs().empty(); ++i) {
      std::optional<PointIndex> index = space.SampleLegal(rng);
      if (!index) break;
      Config config = space.At(*index);
      const int fresh = Note(config);
      missing -= fresh;
      if (i == 0 || fresh > 0) points.push_back(std::move(config));
    }
    return points;
  }

  // The number of new algorithms of this point.
  int Note(const Config& config) {
    int fresh = 0;
    for (const KnobValue& v : config.values) {
      const std::string algorithm = Algorithm(RuleOr(config.template_name), v);
      if (!algorithm.empty()) fresh += algorithms_.insert(algorithm).second;
    }
    return fresh;
  }

  std::set<std::string> run_, offered_, algorithms_;  // proposers; algorithms that a space has; that were run
  std::set<std::string> operators_;                   // that were run
  int kernels_ = 0;
};

TEST_F(KernelGridTest, EveryProposerAndAlgorithmOverOddLayers) {
  int i = 0;
  for (const std::string& text : OddLayers()) {
    RunAll(text, HostWith(64, 32, 2 + i % 2));
    if (i++ % 8 == 0) RunAll(text, HostWith(32, 16, 3));
  }
  std::set<std::string> registry;
  for (const Template* t : AllTemplates(kCpuFamily)) registry.insert(t->name());
  for (const sketch::DerivationRule& rule : sketch::Rules()) {
    if (rule.family == kCpuFamily) registry.insert(rule.name);
  }
  EXPECT_GE(registry.size(), 14u);
  operators_.insert({"quantise", "dequantise", "requantise"});  // bytes_test.cc
  for (const std::string& name : OperatorNames()) EXPECT_EQ(operators_.count(name), 1u) << name << " was not reached";
  for (const std::string& name : registry) EXPECT_EQ(run_.count(name), 1u) << name << " was not reached";
  for (const std::string& name : run_) EXPECT_EQ(registry.count(name), 1u) << name << " is not in the registry's list";
  for (const std::string& each : offered_) EXPECT_EQ(algorithms_.count(each), 1u) << each << " was not reached";
  // Everything that the pages promise was run: Winograd along one axis, along two, by phases of a stride, with a pool.
  for (const char* tiles :
       {"m2 3x3 stride=1", "m4 3x3 stride=1", "m5 3x3 stride=1", "m6 3x3 stride=1", "m2 5x5 stride=1",
        "m4 5x5 stride=1", "m6 1x3 stride=1", "m6 3x1 stride=1", "m3 1x7 stride=1", "m4 7x1 stride=1",
        "m2 3x3 stride=2", "m4 3x3 stride=2", "m4 5x5 stride=2", "m4 7x7 stride=2", "m2 3x3 stride=1 max_pool2d",
        "m4 3x3 stride=1 avg_pool2d"}) {
    EXPECT_EQ(algorithms_.count(std::string("transformed_") + tiles), 1u) << tiles;
  }
  RecordProperty("kernels", kernels_);
}

TEST_F(KernelGridTest, OddLayersOnAArch64) {
  if (const std::string why = CannotEmulate(); !why.empty()) GTEST_SKIP() << why;
  // A part of them: neither a row nor a column of the grid.
  int i = 0;
  for (const std::string& text : OddLayers()) {
    if (i++ % 23 == 0) CheckWorkload(text, Arm(i % 2 == 0 ? "cortex-a53" : "cortex-a72", 1 + i % 3), &pool_, 1);
  }
}

}  // namespace
}  // namespace hone::op
