// Rules of plugins: the example's, and wrong ones. Loaded plugins stay for later tests, in which they do not apply.
#include "common/expect.h"
#include "plugin/plugin.h"
#include "propose/propose.h"
#include "propose/versions.h"
#include "unit/op/kernel_case.h"

namespace hone::plugin {
namespace {

using op::ParseChecked;
using ::testing::Contains;

void LoadRules(const char* name) { Must(Load(std::string(HONE_PLUGINS) + "/" + name)); }

Target Cpu() {
  Target target = *HostTarget();
  target.threads = 2;
  return target;
}

std::vector<std::string> Names(const char* workload) {
  std::vector<std::string> names;
  for (const propose::Proposer& p : Must(propose::AllProposers(*ParseChecked(workload), Cpu()))) {
    names.push_back(p.name());
  }
  return names;
}

TEST(RulesOfPlugins, TheExampleJoinsTheSketchesOfTheTasksThatItFits) {
  EXPECT_FALSE(propose::Tunable(*ParseChecked("relu(f32[1,64,56,56])"), Cpu()));
  LoadRules("flat_rule.so");
  const Workload relu = *ParseChecked("relu(f32[1,64,56,56])");
  EXPECT_THAT(Names("relu(f32[1,64,56,56])"), ElementsAre("stages", "flat"));
  EXPECT_THAT(Names("softmax(f32[8,100])"), Not(Contains("flat")));
  EXPECT_THAT(Names("add(f32[8,100], f32[100])"), Not(Contains("flat"))) << "broadcasts";
  EXPECT_TRUE(propose::Tunable(relu, Cpu()));
  EXPECT_THAT(propose::PluginsOf(relu, Cpu()), ElementsAre(HasSubstr("flat_rule.so")));
  EXPECT_TRUE(propose::PluginsOf(*ParseChecked("softmax(f32[8,100])"), Cpu()).empty());
  EXPECT_EQ(Must(propose::TaskSpaceVersion(relu, Cpu())), "stages=1,flat=1");
}

TEST(RulesOfPlugins, EachPointOfTheExampleIsRightAndHasAnEstimate) {
  LoadRules("flat_rule.so");
  runtime::ThreadPool pool = *runtime::ThreadPool::Create(2, false);
  for (const char* text : {"relu(f32[1,64,56,56])", "add(f32[7,131], f32[7,131])", "sigmoid(f32[1000])"}) {
    const Workload w = *ParseChecked(text);
    testing::OperandData data = *testing::MakeOperandData(w, Cpu(), 3);
    const search::TaskSpace space = *propose::MakeTaskSpace(w, Cpu());
    const op::PointCost cost = propose::EstimatesOf(w, Cpu());
    int legal = 0;
    for (PointIndex i = space.offset(1); i < space.size(); ++i) {
      if (space.Reject(i)) continue;
      ++legal;
      const Config config = space.At(i);
      EXPECT_EQ(cost(config).size(), 1U);
      testing::KernelCase kernel = Must(testing::KernelCase::Create(w, Cpu(), config, &pool));
      ASSERT_TRUE(kernel.Load(data).ok());
      kernel.Run();
      (*op::FindOperator(w))->Reference(w, Cpu(), data.Pointers());
      EXPECT_LT(testing::Compare(data.values.back(), kernel.output()).worst, 1e-5) << config.Text();
    }
    EXPECT_GE(legal, 3) << text;
  }
}

TEST(RulesOfPlugins, WrongOnesAreNamedAndTheOthersGoOn) {
  LoadRules("rules.so");
  const Workload w = *ParseChecked("transpose(f32[16,64], perm=1,0)");
  EXPECT_THAT(Names("transpose(f32[16,64], perm=1,0)"), ElementsAre("stages", "moody"));
  std::vector<std::string> messages;
  for (const Status& failure : propose::RuleFailures(w, Cpu())) messages.push_back(failure.message());
  EXPECT_THAT(
      messages,
      ElementsAre(HasSubstr("rule `throws` threw an exception: no rule"),
                  HasSubstr("rule `no_steps`: sketch `no_steps` has no step"), HasSubstr("rule `no_decision`:3:"),
                  HasSubstr("rule `too_many` makes 10001 steps, at most 10000"),
                  AllOf(HasSubstr("rule `no_axis`: the steps of no point apply"), HasSubstr("lanes"))));
  for (const std::string& message : messages) EXPECT_THAT(message, Not(HasSubstr("\n")));
}

TEST(RulesOfPlugins, AnExceptionOfALaterCallRejectsThePoint) {
  LoadRules("rules.so");
  const Workload w = *ParseChecked("transpose(f32[16,64], perm=1,0)");
  const propose::Proposers proposers = Must(propose::AllProposers(w, Cpu()));
  const search::Space space = Must(proposers[1].MakeSpace());
  ASSERT_EQ(space.size(), 2U);
  EXPECT_THAT(space.Reject(space.At(0)).value_or(""), HasSubstr("not four"));
  EXPECT_FALSE(space.Reject(space.At(1)));
  EXPECT_EQ(propose::EstimatesOf(w, Cpu())(space.At(1)), std::vector<double>{700}) << "no number";
}

}  // namespace
}  // namespace hone::plugin
