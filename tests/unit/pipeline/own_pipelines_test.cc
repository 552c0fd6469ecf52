// The repository's own pipelines/: they can be read and planned, and no built-in network lacks one.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "graph/networks.h"
#include "pipeline/plan.h"
#include "search/tuner/tuner.h"

namespace hone::pipeline {
namespace {

constexpr const char* kFolder = "pipelines";  // tests run in the repository's root

TEST(OwnPipelines, EveryBuiltInNetworkHasOne) {
  const Result<PipelineFolder> folder = ReadPipelineFolder(kFolder);
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  std::set<std::string> networks;
  for (const PipelineFile& file : folder->pipelines) {
    if (IsNetworkName(file.network)) networks.insert(file.network);
  }
  const std::vector<std::string> names = graph::NetworkNames();
  EXPECT_EQ(networks, std::set<std::string>(names.begin(), names.end()));
}

TEST(OwnPipelines, AreReadAndPlanned) {
  const Result<PipelineFolder> folder = ReadPipelineFolder(kFolder);
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  PlanInput input;
  input.folder = *folder;
  for (const char* tool : kTools) input.abi[tool] = "version 1\n";
  input.tools = "../build/bin";
  input.pipelines = "../pipelines";
  input.check_tuner = search::CheckTunerName;
  input.check_network = graph::CheckNetworkName;
  const Status checked = CheckPipelines(input);
  EXPECT_TRUE(checked.ok()) << checked.message();
  const Result<Plan> plan = MakePlan(input);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  for (const PipelineFile& file : input.folder.pipelines) {
    EXPECT_FALSE(file.AllTargets().empty()) << file.name;
    for (const std::string& target : file.AllTargets()) {
      // The first stage extracts: nothing else is known of a network before.
      EXPECT_NE(plan->manifest.find(TaskListPath(file.name, target)), std::string::npos) << file.name << " " << target;
    }
  }
}

// Those, too, that no pipeline names.
TEST(OwnPipelines, EveryTargetFileIsRead) {
  const std::string targets = std::string(kFolder) + "/targets";
  const Result<std::vector<std::string>> names = ListDir(targets);
  ASSERT_TRUE(names.ok()) << names.status().message();
  EXPECT_GE(names->size(), 10u);
  for (const std::string& name : *names) {
    const std::string path = JoinPath(targets, name);
    const Result<std::string> text = ReadFile(path);
    ASSERT_TRUE(text.ok()) << text.status().message();
    const Result<TargetFile> file = ParseTargetFile(*text, path);
    EXPECT_TRUE(file.ok()) << file.status().message();
  }
}

}  // namespace
}  // namespace hone::pipeline
