// The repository's own pipelines/: they can be read and planned, and every built-in network has one.
#include "base/file.h"
#include "common/expect.h"
#include "graph/networks.h"
#include "pipeline/plan.h"
#include "search/tuner/tuner.h"

namespace hone::pipeline {
namespace {

constexpr const char* kFolder = "pipelines";  // tests run in the repository's root

TEST(OwnPipelines, EveryBuiltInNetworkHasOne) {
  const PipelineFolder folder = Must(ReadPipelineFolder(kFolder));
  std::set<std::string> networks;
  for (const PipelineFile& file : folder.pipelines) {
    if (IsNetworkName(file.network)) networks.insert(file.network);
  }
  for (const std::string& name : graph::NetworkNames()) EXPECT_EQ(networks.count(name), 1u) << name;
}

TEST(OwnPipelines, AreReadAndPlanned) {
  const PipelineFolder folder = Must(ReadPipelineFolder(kFolder));
  PlanInput input;
  input.folder = folder;
  for (const std::string& tool : ToolsFor(folder)) input.abi[tool] = "version 1\n";
  input.tools = "../build/bin";
  input.pipelines = "../pipelines";
  input.check_tuner = search::CheckTunerName;
  input.check_network = graph::CheckNetworkName;
  Must(CheckPipelines(input));
  const Plan plan = Must(MakePlan(input));
  for (const PipelineFile& file : input.folder.pipelines) {
    EXPECT_FALSE(file.AllTargets().empty()) << file.name;
    for (const std::string& target : file.AllTargets()) {
      // The first stage only extracts, as nothing else is known of a network yet.
      EXPECT_THAT(plan.manifest, HasSubstr(TaskListPath(file.name, target))) << file.name << " " << target;
    }
  }
}

// Including those that no pipeline names.
TEST(OwnPipelines, EveryTargetFileIsRead) {
  const std::string targets = std::string(kFolder) + "/targets";
  const std::vector<std::string> names = Must(ListDir(targets));
  EXPECT_GE(names.size(), 10u);
  for (const std::string& name : names) Must(ParseTargetFile(Must(ReadFile(JoinPath(targets, name))), name));
}

}  // namespace
}  // namespace hone::pipeline
