#include <filesystem>

#include "base/text.h"
#include "build_folder.h"

namespace hone {
namespace {

class BuildToolTest : public BuildFolder {
 protected:
  Words Workloads() const {
    Words workloads;
    for (const Json& kernel : Kernels()) workloads.push_back(kernel["workload"]);
    return workloads;
  }
};

TEST_F(BuildToolTest, ExtractListsDistinctTasks) {
  ExpectOk(Extract("tiny.json", {"--alone"}));
  const pipeline::TaskList list = List();
  EXPECT_EQ(list.network, "tiny");
  EXPECT_EQ(list.target_name, "cpu");
  ASSERT_EQ(list.tasks.size(), 3u);  // two convolutions and the dense layer; pooling is not tuned
  for (const auto& task : list.tasks) {
    EXPECT_EQ(task.weight, 1);
    Json json = ReadJson("tasks/" + task.id + ".task.json");
    EXPECT_EQ(json["workload"], task.workload);
    EXPECT_EQ(json["target"], list.target);
    EXPECT_EQ(json["flop"], task.flop);
  }
  EXPECT_EQ(list.tasks[1].workload, "conv2d(f32[1,17,13,13], f32[17,17,3,3], pad=1,1,1,1) + bias + add + relu");
}

TEST_F(BuildToolTest, NothingIsWrittenTwice) {
  ExtractAndBuild();
  const std::string before = Snapshot("");
  ExpectHas(before, {"nets/tiny.graph.json", "tasks/tiny.cpu.tasks.json", "out/tiny.cpu/libtiny.so",
                     "out/tiny.cpu/tiny.h", "out/tiny.cpu/tiny.params", "out/tiny.cpu/manifest.json"});
  ExtractAndBuild();
  EXPECT_EQ(Snapshot(""), before);

  // Other parameters: programs that have mapped the file keep the old one.
  const std::string params = Read("out/tiny.cpu/tiny.params");
  std::filesystem::create_hard_link(Path("out/tiny.cpu/tiny.params"), Path("mapped"));
  Write("tiny.json", ReplaceAll(Read("tiny.json"), "\"seed\": 3", "\"seed\": 4"));
  ExtractAndBuild();
  EXPECT_NE(Read("out/tiny.cpu/tiny.params"), params);
  EXPECT_EQ(Read("mapped"), params);
}

// A best file with the default configurations gives the same library, and a manifest with their origin.
TEST_F(BuildToolTest, BestConfigurationsAreBuilt) {
  ExtractAndBuild();
  const std::string library = Read("out/tiny.cpu/libtiny.so");
  pipeline::BestFile best{List().network, List().target, {}};
  for (const Json& kernel : Kernels()) {
    if (kernel["source"] == "fixed") continue;
    EXPECT_EQ(kernel["source"], "default");
    pipeline::BestEntry entry{{}, kernel["task"], kernel["workload"]};
    entry.source = pipeline::BestSource::kTuned;
    entry.config = *Config::FromJson(kernel["config"].dump());
    entry.median = 1e-3;
    entry.fingerprint = entry.from = entry.host = entry.recorded = entry.steps_digest = "x";
    best.tasks.push_back(entry);
  }
  ASSERT_EQ(best.tasks.size(), 3u);
  CommandResult built = BuildBest(best);
  ExpectOk(built);
  EXPECT_EQ(Read("out/tiny.cpu/libtiny.so"), library);
  ExpectHas(Read("out/tiny.cpu/manifest.json"), {"\"source\": \"tuned\""});
  ExpectHasNot(built.err, {"warning"});
  // New measurements of the same choice build nothing.
  const std::string before = Snapshot("out");
  for (pipeline::BestEntry& entry : best.tasks) entry.median = 2e-3, entry.recorded = "y";
  ExpectOk(BuildBest(best));
  EXPECT_EQ(Snapshot("out"), before);

  // An entry without records: its default, and a warning.
  best.tasks[0].config.reset();
  best.tasks[0].source = pipeline::BestSource::kDefault;
  built = BuildBest(best);
  ExpectOk(built);
  ExpectHas(built.err, {"1 of the tasks have no records"});

  // A knob that no template has.
  best.tasks[1].config->values[0].name = "no_such_knob";
  ExpectRefused(BuildBest(best), 2, {best.tasks[1].id});

  // Configurations under swapped ids.
  std::swap(best.tasks[1].id, best.tasks[2].id);
  ExpectRefused(BuildBest(best), 2, {"the entry of task " + best.tasks[1].id + " is of another one"});
  std::swap(best.tasks[1].id, best.tasks[2].id);

  best.target = "cpu -of=another -kind";
  ExpectRefused(BuildBest(best), 2, {"hone-pick-best"});
}

// The first layer reads blocks, and nothing shares memory: the same results by other kernels.
TEST_F(BuildToolTest, WhatTheChoiceSaysOfTheNetworkIsBuilt) {
  ExtractAndBuild();
  const std::string graph = Read("out/tiny.cpu/tiny.graph.json"), as_it_stands = Join(Workloads(), "\n");
  ExpectHas(as_it_stands, {"in=nchw"});
  ExpectHasNot(as_it_stands, {"block("});
  const pipeline::TaskList list = List();
  ASSERT_FALSE(list.alternatives.empty());
  EXPECT_EQ(list.alternatives[0].replaces, Words{"r1"});
  ASSERT_EQ(list.alternatives[0].by.size(), 2u);
  EXPECT_EQ(list.alternatives[0].by[0].workload, "block(f32[1,3,13,13])");

  pipeline::BestFile best{list.network, list.target, {}};
  best.alternatives = {list.alternatives[0]};
  best.share = {false, false};
  ExpectOk(BuildBest(best));
  ExpectHas(Join(Workloads(), "\n"), {"block(f32[1,3,13,13])"});
  ExpectHasNot(Join(Workloads(), "\n"), {"in=nchw"});
  EXPECT_EQ(Read("out/tiny.cpu/tiny.graph.json"), graph) << "it is what the library is compared with";
  ExpectOk(Run({HONE_BENCH, "--lib", "out/tiny.cpu"}));

  best.alternatives[0].replaces = {"nobody", "r1"};
  ExpectRefused(BuildBest(best), 2, {"no node `nobody`"});
}

// tests/error has errors of networks, and flag errors of all tools.
TEST_F(BuildToolTest, MistakesAreRefusedInOneLine) {
  ExpectRefused(Build(), 1, {"nets/tiny.graph.json"});
  ExpectOk(Extract());
  ExpectRefused(Build({}), 2, {"exactly one of --best and --untuned"});
  ExpectRefused(Build({"--untuned", "--best", "x"}), 2, {"exactly one of --best and --untuned"});
  ExpectRefused(Build({"--best", "best/none.json"}), 1, {"best/none.json"});
  ExpectRefused(Build({"--untuned", "--name", "../x"}), 2, {"--name"});
  EXPECT_FALSE(Has("out"));
  Delete("tasks");
  Write("targets/cpu.json", R"({"kind": "vta"})");
  ExpectRefused(Extract(), 2, {"unknown target kind `vta`; known: cpu, cuda, opencl"});
  EXPECT_FALSE(Has("tasks"));
}

TEST_F(BuildToolTest, ToolsSayTheirVersions) {
  for (const char* tool : {HONE_EXTRACT, HONE_BUILD, HONE_BENCH}) {
    for (const char* flag : {"--abi", "--version", "--help"}) EXPECT_NE(RunOk({tool, flag}), "") << tool << " " << flag;
  }
}

}  // namespace
}  // namespace hone
