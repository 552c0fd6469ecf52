#include "pipeline/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace hone::pipeline {
namespace {

PipelineFile Network(const std::string& name, std::vector<std::string> targets, int64_t trials = 64) {
  PipelineFile file;
  file.name = name;
  file.path = name + ".toml";
  file.network = "resnet-18";
  file.targets = std::move(targets);
  file.tune.trials = trials;
  return file;
}

TargetFile Cpu(const std::string& name = "cpu") { return {name, name + ".toml", "{\"kind\": \"cpu\"}\n", 1}; }

TaskList List(const std::vector<std::string>& ids) {
  TaskList list{"resnet-18", "cpu -threads=2", "cpu", {}};
  for (const std::string& id : ids) list.tasks.push_back({id, "conv2d(" + id + ")", 2, 100});
  return list;
}

PlanInput Input(std::vector<PipelineFile> pipelines, std::vector<TargetFile> targets = {Cpu()}) {
  PlanInput input;
  input.folder.pipelines = std::move(pipelines);
  input.folder.targets = std::move(targets);
  for (const char* tool : kTools) input.abi[tool] = "version 1\n";
  input.tools = "../bin";
  input.pipelines = "../pipelines";
  return input;
}

std::string Manifest(const PlanInput& input) {
  const Result<Plan> plan = MakePlan(input);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return plan.ok() ? plan->manifest : "";
}

// The statement (with its bindings, unwrapped) that makes `output` first; "" if there is none.
std::string Statement(const std::string& manifest, const std::string& output) {
  const size_t at = manifest.find("\nbuild " + output);
  if (at == std::string::npos) return "";
  size_t end = at + 1;
  do {
    end = manifest.find('\n', end + 1);
  } while (end != std::string::npos && end + 1 < manifest.size() && manifest[end + 1] == ' ');
  std::string text = manifest.substr(at + 1, end - at - 1);
  for (size_t broken; (broken = text.find("$\n    ")) != std::string::npos;) text.erase(broken, 6);
  return text;
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Plan, BeforeExtractTheAliasesExistAndWaitForTheList) {
  const std::string manifest = Manifest(Input({Network("a", {"cpu"})}));
  EXPECT_EQ(Statement(manifest, "build.ninja"), "build build.ninja: plan tasks/a.cpu.tasks.json");
  for (const char* verb : {"records", "best", "build", "bench", "report", "tune"}) {
    EXPECT_EQ(Statement(manifest, std::string(verb) + "-a-cpu:"),
              std::string("build ") + verb + "-a-cpu: phony tasks/a.cpu.tasks.json");
  }
  EXPECT_EQ(manifest.find("stamps/"), std::string::npos);
}

TEST(Plan, ATaskOfTwoNetworksIsTunedOnceWithTheLargerBudget) {
  PlanInput input = Input({Network("a", {"cpu"}, 32), Network("b", {"cpu"}, 128)});
  input.lists["a.cpu"] = List({"x", "y"});
  input.lists["b.cpu"] = List({"y", "z"});
  const std::string manifest = Manifest(input);
  EXPECT_EQ(Count(manifest, "\nbuild stamps/"), 3);
  EXPECT_NE(Statement(manifest, "stamps/x.cpu.done").find("settings/a.tune.json"), std::string::npos);
  EXPECT_NE(Statement(manifest, "stamps/y.cpu.done").find("settings/b.tune.json"), std::string::npos);
  EXPECT_EQ(Statement(manifest, "stamps/y.cpu.done").find("settings/a.tune.json"), std::string::npos);
  EXPECT_NE(manifest.find("# conv2d(y) : a x2, b x2; largest budget: b\n"), std::string::npos);
  // Its file has one maker, or Ninja would refuse the manifest.
  EXPECT_NE(Statement(manifest, "tasks/a.cpu.tasks.json").find("tasks/y.task.json"), std::string::npos);
  EXPECT_EQ(Statement(manifest, "tasks/b.cpu.tasks.json").find("tasks/y.task.json"), std::string::npos);
  // Both wait for it.
  for (const char* net : {"a", "b"}) {
    EXPECT_NE(Statement(manifest, std::string("best/") + net).find("stamps/y.cpu.done"), std::string::npos);
  }
}

TEST(Plan, TheSameTaskOnTwoTargetsIsTunedOnEachWithRecordsOfItsOwn) {
  PlanInput input = Input({Network("a", {"cpu", "old"})}, {Cpu(), Cpu("old")});
  input.lists["a.cpu"] = List({"x"});
  input.lists["a.old"] = List({"x"});
  const std::string manifest = Manifest(input);
  EXPECT_NE(Statement(manifest, "stamps/x.cpu.done").find("db = records/cpu/x.db"), std::string::npos);
  EXPECT_NE(Statement(manifest, "stamps/x.old.done").find("db = records/old/x.db"), std::string::npos);
  EXPECT_NE(Statement(manifest, "stamps/x.old.done").find("pool = device-old"), std::string::npos);
  // One edge makes the graph, the other waits for it.
  EXPECT_NE(Statement(manifest, "tasks/a.cpu.tasks.json").find("| tasks/x.task.json nets/a.graph.json:"),
            std::string::npos);
  EXPECT_NE(Statement(manifest, "tasks/a.old.tasks.json").find("abi/hone-extract.txt nets/a.graph.json ||"),
            std::string::npos);
}

// It competed for the cores, and for the machine lock, with the first tuning edges.
TEST(Plan, TheUntunedLibraryIsBuiltAfterTuning) {
  PlanInput input = Input({Network("a", {"cpu"})});
  input.lists["a.cpu"] = List({"x"});
  const std::string untuned = Statement(Manifest(input), "out/a.cpu.untuned/");
  EXPECT_LT(untuned.find("||"), untuned.find("best/a.cpu.json")) << untuned;  // in order, but no reason to build again
  EXPECT_NE(untuned.find("best/a.cpu.json"), std::string::npos) << untuned;
}

TEST(Plan, ParametersAreAnInputOfWhoeverReadsThem) {
  PlanInput input = Input({Network("a", {"cpu"})});
  input.folder.pipelines[0].network = "a.json";
  input.folder.pipelines[0].parameters = "a.params";
  input.lists["a.cpu"] = List({"x"});
  const std::string manifest = Manifest(input);
  for (const char* output : {"tasks/a.cpu.tasks.json", "out/a.cpu/", "out/a.cpu.untuned/", "bench/a.cpu.json"}) {
    const std::string statement = Statement(manifest, output);
    const size_t at = statement.find("/a.params ||");
    EXPECT_NE(at, std::string::npos) << statement;
    EXPECT_NE(statement.find("\n  parameters = --parameter-file "), std::string::npos) << statement;
  }
  EXPECT_EQ(Statement(manifest, "stamps/x.cpu.done").find("a.params"), std::string::npos);
}

TEST(Plan, TheDatabaseIsNeverAnOutputAndTheToolsAreOrderOnly) {
  PlanInput input = Input({Network("a", {"cpu"})});
  input.lists["a.cpu"] = List({"x"});
  const std::string manifest = Manifest(input);
  size_t at = 0;
  while ((at = manifest.find("\nbuild ", at)) != std::string::npos) {
    const std::string statement = Statement(manifest.substr(at), "");
    const std::string outputs = statement.substr(0, statement.find(": "));
    EXPECT_EQ(outputs.find("records/"), std::string::npos) << statement;
    const size_t tool = statement.find("../bin/");
    const size_t order_only = statement.find("||");
    EXPECT_TRUE(tool == std::string::npos || order_only < tool) << statement;
    ++at;
  }
}

TEST(Plan, EveryCommandIsRunByExecWithNothingThatLeavesResultsAlone) {
  PlanInput input = Input({Network("a", {"cpu"})});
  input.lists["a.cpu"] = List({"x"});
  const std::string manifest = Manifest(input);
  EXPECT_EQ(Count(manifest, "\n  command = "), Count(manifest, "\n  command = exec "));
  EXPECT_GE(Count(manifest, "\n  command = "), 8);
  for (const char* word : {"--log", "--verbose", " -j", "console", "|@", "dyndep"}) {
    EXPECT_EQ(manifest.find(word), std::string::npos) << word;
  }
  EXPECT_NE(manifest.find("ninja_required_version = 1.10\n"), std::string::npos);
}

TEST(Plan, DevicesOfATargetAreTheDepthOfItsPool) {
  PlanInput input = Input({Network("a", {"cpu"})});
  EXPECT_NE(Manifest(input).find("pool device-cpu\n  depth = 1\n"), std::string::npos);
  input.folder.targets[0].devices = 64;
  EXPECT_NE(Manifest(input).find("pool device-cpu\n  depth = 64\n"), std::string::npos);
}

TEST(Plan, FoldersWithSpacesAndDollarsAreEscapedForNinjaAndTheShell) {
  PlanInput input = Input({Network("a", {"cpu"})});
  input.tools = "/opt/my $tools";
  const std::string manifest = Manifest(input);
  EXPECT_NE(manifest.find("exec $$HONE_LAUNCHER '/opt/my $$tools/hone-tune' --task $in"), std::string::npos);
  EXPECT_NE(manifest.find("|| /opt/my$ $$tools/hone-extract\n"), std::string::npos);
}

TEST(Plan, ANetworkFileIsAnInputOfExtract) {
  PlanInput input = Input({Network("a", {"cpu"})});
  input.folder.pipelines[0].network = "models/net.onnx";
  const std::string statement = Statement(Manifest(input), "tasks/a.cpu.tasks.json");
  EXPECT_NE(statement.find("abi/hone-extract.txt ../pipelines/models/net.onnx "), std::string::npos) << statement;
  EXPECT_NE(statement.find("network = ../pipelines/models/net.onnx\n"), std::string::npos);
}

TEST(Plan, JobsThatWouldMakeTheSameFileOrAliasAreRefused) {
  const Result<Plan> alias = MakePlan(Input({Network("a", {"b-c"}), Network("a-b", {"c"})}, {Cpu("b-c"), Cpu("c")}));
  ASSERT_FALSE(alias.ok());
  EXPECT_NE(alias.status().message().find("-a-b-c'"), std::string::npos) << alias.status().message();
  const Result<Plan> file = MakePlan(Input({Network("a", {"b.c"}), Network("a.b", {"c"})}, {Cpu("b.c"), Cpu("c")}));
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.status().message().find("tasks/a.b.c.tasks.json"), std::string::npos) << file.status().message();
}

// Ninja reloads its manifest only if the text changes; what extract reads must therefore show in it.
TEST(Plan, TheManifestChangesWithWhatExtractReadsAndNotWithABudget) {
  const PlanInput input = Input({Network("a", {"cpu"})});
  PlanInput other = input;
  other.folder.targets[0].json = "{\"kind\": \"cpu\", \"threads\": 3}\n";
  EXPECT_NE(Manifest(input), Manifest(other));
  other = input;
  other.abi["hone-extract"] = "version 2\n";
  EXPECT_NE(Manifest(input), Manifest(other));
  other = input;
  other.folder.pipelines[0].tune.trials *= 2;
  other.abi["hone-tune"] = "version 2\n";
  EXPECT_EQ(Manifest(input), Manifest(other));
}

TEST(Plan, WritesTheFilesThatTheEdgesRead) {
  PlanInput input = Input({Network("a", {"cpu"})});
  input.lists["a.cpu"] = List({"x"});
  const Result<Plan> plan = MakePlan(input);
  ASSERT_TRUE(plan.ok());
  std::vector<std::string> paths;
  for (const PlannedFile& file : plan->files) paths.push_back(file.path);
  std::sort(paths.begin(), paths.end());
  const std::vector<std::string> expected = {
      "abi/hone-bench.txt",   "abi/hone-build.txt", "abi/hone-extract.txt",  "abi/hone-pick-best.txt",
      "abi/hone-report.txt",  "abi/hone-tune.txt",  "settings/a.bench.json", "settings/a.extract.json",
      "settings/a.tune.json", "targets/cpu.json"};
  EXPECT_EQ(paths, expected);
}

}  // namespace
}  // namespace hone::pipeline
