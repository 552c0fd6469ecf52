#include <sys/stat.h>

#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "build_folder.h"
#include "pipeline/best_file.h"
#include "pipeline/task_list.h"

namespace hone {
namespace {

struct timespec ModifiedAt(const std::string& path) {
  struct stat st{};
  EXPECT_EQ(stat(path.c_str(), &st), 0) << path;
  return st.st_mtim;
}

TEST_F(BuildFolderTest, ExtractListsDistinctTasks) {
  ASSERT_TRUE(Extract("tiny.json", {"--alone"}).status.ok());
  auto list = pipeline::ReadTaskList(Path("tasks/tiny.cpu.tasks.json"));
  ASSERT_TRUE(list.ok()) << list.status().message();
  EXPECT_EQ(list->network, "tiny");
  EXPECT_EQ(list->target_name, "cpu");
  ASSERT_EQ(list->tasks.size(), 3u);  // two convolutions and the dense layer; pooling is not tuned
  for (const auto& task : list->tasks) {
    EXPECT_EQ(task.weight, 1);
    auto json = ReadJsonFile(Path("tasks/" + task.id + ".task.json"));
    ASSERT_TRUE(json.ok());
    EXPECT_EQ((*json)["workload"], task.workload);
    EXPECT_EQ((*json)["target"], list->target);
    EXPECT_EQ((*json)["flop"], task.flop);
  }
  EXPECT_EQ(list->tasks[1].workload, "conv2d(f32[1,17,13,13], f32[17,17,3,3], pad=1,1,1,1) + bias + add + relu");
}

TEST_F(BuildFolderTest, AnUnknownTargetKindIsSaidAtOnce) {
  Write("targets/cpu.json", R"({"kind": "vta"})");
  ExpectRefused(Extract(), 2, "unknown target kind `vta`; known: cpu, cuda, opencl");
  EXPECT_FALSE(Exists(Path("tasks/tiny.cpu.tasks.json")));
}

TEST_F(BuildFolderTest, NothingIsWrittenTwice) {
  ASSERT_TRUE(Extract().status.ok());
  ASSERT_TRUE(Build().status.ok());
  const char* const files[] = {"nets/tiny.graph.json", "tasks/tiny.cpu.tasks.json", "out/tiny.cpu/libtiny.so",
                               "out/tiny.cpu/tiny.h",  "out/tiny.cpu/tiny.params",  "out/tiny.cpu/manifest.json"};
  std::vector<struct timespec> before;
  for (const char* file : files) before.push_back(ModifiedAt(Path(file)));
  ASSERT_TRUE(Extract().status.ok());
  ASSERT_TRUE(Build().status.ok());
  for (size_t i = 0; i < before.size(); ++i) {
    const struct timespec after = ModifiedAt(Path(files[i]));
    EXPECT_TRUE(after.tv_sec == before[i].tv_sec && after.tv_nsec == before[i].tv_nsec) << files[i];
  }
}

// A best file whose configurations are the defaults makes the same library, and a manifest that says where they came
// from.
TEST_F(BuildFolderTest, BestConfigurationsAreBuilt) {
  ASSERT_TRUE(Extract().status.ok());
  ASSERT_TRUE(Build().status.ok());
  const std::string library = Read("out/tiny.cpu/libtiny.so");
  auto manifest = ParseJson(Read("out/tiny.cpu/manifest.json"), "manifest");
  auto list = pipeline::ReadTaskList(Path("tasks/tiny.cpu.tasks.json"));
  pipeline::BestFile best{list->network, list->target, {}};
  for (const Json& kernel : (*manifest)["kernels"]) {
    if (kernel["source"] == "fixed") continue;
    EXPECT_EQ(kernel["source"], "default");
    pipeline::BestEntry entry{kernel["task"], kernel["workload"]};
    entry.source = pipeline::BestSource::kTuned;
    entry.config = *Config::FromJson(kernel["config"].dump());
    entry.median = 1e-3;
    entry.fingerprint = entry.from = entry.host = entry.recorded = entry.steps_digest = "x";
    best.tasks.push_back(entry);
  }
  ASSERT_EQ(best.tasks.size(), 3u);
  Write("best/tiny.cpu.json", pipeline::BestFileText(best));
  CommandResult built = Build({"--best", "best/tiny.cpu.json"});
  ASSERT_TRUE(built.status.ok()) << built.err;
  EXPECT_EQ(Read("out/tiny.cpu/libtiny.so"), library);
  EXPECT_NE(Read("out/tiny.cpu/manifest.json").find("\"source\": \"tuned\""), std::string::npos);
  EXPECT_EQ(built.err.find("warning"), std::string::npos);

  // One without records: its default, and a warning.
  best.tasks[0].config.reset();
  best.tasks[0].source = pipeline::BestSource::kDefault;
  Write("best/tiny.cpu.json", pipeline::BestFileText(best));
  built = Build({"--best", "best/tiny.cpu.json"});
  ASSERT_TRUE(built.status.ok()) << built.err;
  EXPECT_NE(built.err.find("1 of the tasks have no records"), std::string::npos) << built.err;

  // A knob that no template has.
  best.tasks[1].config->values[0].name = "no_such_knob";
  Write("best/tiny.cpu.json", pipeline::BestFileText(best));
  ExpectRefused(Build({"--best", "best/tiny.cpu.json"}), 2, best.tasks[1].id);

  // Configurations that stand under one another's ids.
  std::swap(best.tasks[1].id, best.tasks[2].id);
  Write("best/tiny.cpu.json", pipeline::BestFileText(best));
  ExpectRefused(Build({"--best", "best/tiny.cpu.json"}), 2,
                "the entry of task " + best.tasks[1].id + " is of another one");
  std::swap(best.tasks[1].id, best.tasks[2].id);

  best.target = "cpu -of=another -kind";
  Write("best/tiny.cpu.json", pipeline::BestFileText(best));
  ExpectRefused(Build({"--best", "best/tiny.cpu.json"}), 2, "hone-pick-best");
}

// The first layer reads blocks, and nothing shares memory: the same results by other kernels.
TEST_F(BuildFolderTest, WhatTheChoiceSaysOfTheNetworkIsBuilt) {
  ASSERT_TRUE(Extract().status.ok());
  ASSERT_TRUE(Build().status.ok());
  const auto kernels = [&] {
    std::string text;
    const auto manifest = ParseJson(Read("out/tiny.cpu/manifest.json"), "manifest");
    for (const Json& kernel : (*manifest)["kernels"]) {
      text += kernel["workload"].get<std::string>() + "\n";
    }
    return text;
  };
  const std::string graph = Read("out/tiny.cpu/tiny.graph.json"), as_it_stands = kernels();
  EXPECT_EQ(as_it_stands.find("block("), std::string::npos);
  EXPECT_NE(as_it_stands.find("in=nchw"), std::string::npos);
  const auto list = pipeline::ReadTaskList(Path("tasks/tiny.cpu.tasks.json"));
  ASSERT_TRUE(list.ok() && !list->alternatives.empty());
  EXPECT_EQ(list->alternatives[0].replaces, (std::vector<std::string>{"r1"}));
  ASSERT_EQ(list->alternatives[0].by.size(), 2u);
  EXPECT_EQ(list->alternatives[0].by[0].workload, "block(f32[1,3,13,13])");

  pipeline::BestFile best{list->network, list->target, {}};
  best.alternatives = {list->alternatives[0]};
  best.share = {false, false};
  Write("best/tiny.cpu.json", pipeline::BestFileText(best));
  const CommandResult built = Build({"--best", "best/tiny.cpu.json"});
  ASSERT_TRUE(built.status.ok()) << built.err;
  EXPECT_NE(kernels().find("block(f32[1,3,13,13])"), std::string::npos);
  EXPECT_EQ(kernels().find("in=nchw"), std::string::npos);
  EXPECT_EQ(Read("out/tiny.cpu/tiny.graph.json"), graph) << "it is what the library is compared with";
  const CommandResult bench = Run({HONE_BENCH, "--lib", "out/tiny.cpu"});
  EXPECT_TRUE(bench.status.ok()) << bench.err;

  best.alternatives[0].replaces = {"nobody", "r1"};
  Write("best/tiny.cpu.json", pipeline::BestFileText(best));
  ExpectRefused(Build({"--best", "best/tiny.cpu.json"}), 2, "no node `nobody`");
}

TEST_F(BuildFolderTest, MistakesAreRefusedInOneLine) {
  ExpectRefused(Extract("resnet-81"), 1, "did you mean `resnet-18`");
  ExpectRefused(Extract("resnet-18", {"--batch", "0"}), 2, "batch 0");
  ExpectRefused(Extract("missing.json"), 1, "missing.json");
  Write("bad.json", "{\"version\": 1,\n \"nam\": 3}");
  ExpectRefused(Extract("bad.json"), 2, "bad.json: /name: missing");
  Write("cycle.json",
        ReplaceAll(Read("tiny.json"), "\"inputs\":[\"data\",\"c1.weight\"]", "\"inputs\":[\"r1\",\"c1.weight\"]"));
  ExpectRefused(Extract("cycle.json"), 2, "cycle");
  Write("op.json", ReplaceAll(Read("tiny.json"), "global_avg_pool", "global_avg_pol"));
  ExpectRefused(Extract("op.json"), 2, "did you mean `global_avg_pool`");
  Write("empty.json", ReplaceAll(Read("tiny.json"), "f32[17,17,3,3], pad=1,1,1,1", "f32[17,17,30,30]"));
  ExpectRefused(Extract("empty.json"), 2, "no output");
  EXPECT_FALSE(Exists(Path("nets/tiny.graph.json")));

  ExpectRefused(Build(), 1, "nets/tiny.graph.json");
  ASSERT_TRUE(Extract().status.ok());
  ExpectRefused(Build({}), 2, "exactly one of --best and --untuned");
  ExpectRefused(Build({"--untuned", "--best", "x"}), 2, "exactly one of --best and --untuned");
  ExpectRefused(Build({"--best", "best/none.json"}), 1, "best/none.json");
  ExpectRefused(Build({"--untuned", "--name", "../x"}), 2, "--name");
  ExpectRefused(Build({"--untund"}), 2, "--untuned");
  EXPECT_FALSE(Exists(Path("out")));
}

TEST_F(BuildFolderTest, ToolsSayTheirVersions) {
  for (const char* tool : {HONE_EXTRACT, HONE_BUILD, HONE_BENCH}) {
    CommandResult abi = Run({tool, "--abi"});
    EXPECT_TRUE(abi.status.ok());
    EXPECT_NE(abi.out, "");
    EXPECT_TRUE(Run({tool, "--version"}).status.ok());
    EXPECT_TRUE(Run({tool, "--help"}).status.ok());
  }
}

}  // namespace
}  // namespace hone
