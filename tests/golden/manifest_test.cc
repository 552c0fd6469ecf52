// The manifests of three small pipelines, byte for byte: alpha on two targets; beta, a model file, on one; gamma, with
// all that only some pipelines ask for; a task that they share; before and after extract. The expected texts were read
// line by line against DESIGN's rules (and tests/cli/manifest runs such manifests under Ninja). To accept a change:
// HONE_UPDATE_GOLDEN=1 bin/golden_manifest_test, which fails for having tested nothing, and read the diff.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/file.h"
#include "base/text.h"
#include "pipeline/plan.h"

namespace hone::pipeline {
namespace {

const std::string kFolder = "tests/golden/manifest/";

PlanInput Input() {
  Result<PipelineFolder> folder = ReadPipelineFolder(kFolder + "pipelines");
  EXPECT_TRUE(folder.ok()) << folder.status().message();
  PlanInput input;
  if (folder.ok()) input.folder = *folder;
  for (const char* tool : kTools) input.abi[tool] = std::string(tool) + " 1\n";
  input.tools = "../build/bin";
  input.pipelines = "../pipelines";
  input.reads = {"../pipelines", "../pipelines/alpha.toml", "../build/bin/hone-plan"};
  return input;
}

void Check(const PlanInput& input, const std::string& name) {
  ASSERT_FALSE(testing::Test::HasFailure()) << "no manifest is made of a folder that cannot be read";
  const Result<Plan> plan = MakePlan(input);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) {
    const Result<bool> changed = WriteFileIfChanged(kFolder + name, plan->manifest);
    ASSERT_TRUE(changed.ok()) << changed.status().message();
    FAIL() << name << (*changed ? ": updated; read the diff" : ": unchanged") << ". Nothing was tested";
  }
  const Result<std::string> expected = ReadFile(kFolder + name);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  const std::vector<std::string> want = Split(*expected, '\n'), have = Split(plan->manifest, '\n');
  for (size_t i = 0; i < std::min(want.size(), have.size()); ++i) {
    ASSERT_EQ(have[i], want[i]) << "at line " << i + 1 << " of " << name;
  }
  EXPECT_EQ(have.size(), want.size());
}

TEST(GoldenManifest, BeforeExtract) { Check(Input(), "stage1.ninja"); }

TEST(GoldenManifest, AfterExtract) {
  PlanInput input = Input();
  for (const char* job : {"alpha.cpu", "alpha.gpu", "beta.cpu", "gamma.cpu"}) {
    const Result<TaskList> list = ReadTaskList(kFolder + job + ".tasks.json");
    ASSERT_TRUE(list.ok()) << list.status().message();
    input.lists.emplace(job, *list);
  }
  input.accepted["alpha.cpu"] = {"0123456789abcdef0123456789abcdef", true};
  input.accepted["gamma.cpu"] = {"00112233445566778899aabbccddeeff", true};  // its numerics are of now, not of then
  input.accepted["alpha.gpu"] = {"fedcba9876543210fedcba9876543210", false};  // not known what it was built from
  Check(input, "stage2.ninja");
}

}  // namespace
}  // namespace hone::pipeline
