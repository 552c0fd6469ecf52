// Choices over the whole network, by real tools under a real Ninja. Times of single kernels are invented, so that what
// must be chosen can be worked out here from the records.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "chain_folder.h"
#include "graph/graph_json.h"
#include "graph/network_builder.h"
#include "pipeline/task_list.h"

namespace hone {
namespace {

class AlternativesChain : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    for (const char* name : {"one", "two"}) {
      ASSERT_TRUE(Remove(Path(std::string("pipelines/") + name + ".toml")).ok());
    }
    graph::NetworkBuilder net("pooled", 3);
    std::string x = net.Relu("r1", net.Conv("c1", net.Input("data", {1, 3, 14, 14}), 32, {{3}, {1}, {1}}));
    x = net.MaxPool("pool", x, {{2}, {2}, {0}});
    x = net.Relu("r2", net.Conv("dw", x, 32, {{3}, {1}, {1}}, {32}));
    x = net.Conv("c3", x, 16, {});
    Write("pipelines/models/pooled.json",
          graph::GraphText(
              net.Finish({net.Dense("fc", net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", x)), 20)})));
    WritePipeline("pooled", 4, "random", true);
  }

  pipeline::TaskList List() const {
    const auto list = pipeline::ReadTaskList(Work("tasks/pooled.cpu.tasks.json"));
    EXPECT_TRUE(list.ok()) << list.status().message();
    return list.ok() ? *list : pipeline::TaskList();
  }

  pipeline::BestFile Choice() const {
    const auto best = pipeline::ReadBestFile(Work("best/pooled.cpu.choice.json"));
    EXPECT_TRUE(best.ok()) << best.status().message();
    return best.ok() ? *best : pipeline::BestFile();
  }

  std::map<std::string, double> Seconds(const pipeline::BestFile& best) const {
    std::map<std::string, double> seconds;  // by workload
    for (const pipeline::BestEntry& entry : best.tasks) seconds[entry.workload] = entry.median;
    return seconds;
  }

  // The least sum over all sets of alternatives that do not overlap. No transform is shared in this network.
  double LeastSum(const pipeline::BestFile& best) const {
    const std::map<std::string, double> seconds = Seconds(best);
    const auto graph = graph::ReadGraph(Work("nets/pooled.graph.json"));
    EXPECT_TRUE(graph.ok());
    const std::vector<pipeline::Alternative> all = List().alternatives;
    double least = 1e9;
    for (uint32_t subset = 0; subset < (1u << all.size()); ++subset) {
      std::set<std::string> gone;
      double sum = 0;
      bool overlap = false;
      for (size_t i = 0; i < all.size(); ++i) {
        if (!(subset >> i & 1)) continue;
        for (const std::string& name : all[i].replaces) overlap = !gone.insert(name).second || overlap;
        for (const pipeline::AlternativeNode& node : all[i].by) sum += seconds.at(node.workload);
      }
      if (overlap) continue;
      for (const graph::Node& node : graph->nodes) {
        auto known = seconds.find(node.workload.Text());
        if (!gone.count(node.name) && known != seconds.end()) sum += known->second;
      }
      least = std::min(least, sum);
    }
    return least;
  }
};

TEST_F(AlternativesChain, WhatIsTakenIsTheLeastSumOfTheRecords) {
  int taken = 0, left = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    InventTimes(seed);
    ASSERT_TRUE(RemoveTree(Work("")).ok());
    ASSERT_TRUE(Plan().status.ok());
    NinjaOk({"best/pooled.cpu.json"});
    const auto best = pipeline::ReadBestFile(Work("best/pooled.cpu.json"));
    ASSERT_TRUE(best.ok()) << best.status().message();
    ASSERT_TRUE(best->partition);
    EXPECT_NEAR(best->partition->chosen_seconds, LeastSum(*best), 1e-9) << seed;
    EXPECT_EQ(best->partition->taken, static_cast<int64_t>(best->alternatives.size()));
    EXPECT_TRUE(best->partition->exact);
    taken += !best->alternatives.empty();
    left += best->alternatives.size() < List().alternatives.size();
    // What there is nothing to choose in is measured all the same: once.
    for (const pipeline::TaskEntry& task : List().tasks) {
      if (StartsWith(task.workload, "max_pool2d(") || StartsWith(task.workload, "block(")) {
        EXPECT_EQ(Trials(task.id).size(), 1u) << task.workload;
      }
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(left, 0);
}

TEST_F(AlternativesChain, TheLibraryIsMadeOfWhatTheChoiceSays) {
  InventTimes(1);
  ASSERT_TRUE(Plan().status.ok());
  NinjaOk({"tune-pooled-cpu"});
  ExpectNoWork("tune-pooled-cpu");
  const auto bench = ReadJsonFile(Work("bench/pooled.cpu.json"));
  ASSERT_TRUE(bench.ok()) << bench.status().message();
  EXPECT_TRUE((*bench)["verification"]["ok"].get<bool>()) << bench->dump(1);

  const pipeline::BestFile choice = Choice();
  const auto manifest = ReadJsonFile(Work("out/pooled.cpu/manifest.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  std::set<std::string> built, chosen;
  for (const Json& kernel : (*manifest)["kernels"]) built.insert(kernel["workload"]);
  for (const pipeline::BestEntry& entry : choice.tasks) chosen.insert(entry.workload);
  for (const std::string& workload : chosen) EXPECT_TRUE(built.count(workload)) << workload;
  for (const pipeline::Alternative& alternative : choice.alternatives) {
    for (const pipeline::AlternativeNode& node : alternative.by) EXPECT_TRUE(built.count(node.workload));
  }
  // What was measured of them, both ways, stands in the other file.
  const auto confirmed = pipeline::ReadBestFile(Work("best/pooled.cpu.confirmed.json"));
  ASSERT_TRUE(confirmed.ok() && confirmed->in_network);
  EXPECT_EQ(confirmed->alternatives, choice.alternatives);
  for (const pipeline::ComparedChoice& c : confirmed->in_network->compared) {
    EXPECT_GT(c.with_seconds, 0) << c.what;
    EXPECT_GT(c.without_seconds, 0) << c.what;
  }
  EXPECT_TRUE(Exists(Work("report/pooled.cpu/report.md")));
}

TEST_F(AlternativesChain, APipelineCanLeaveThemOut) {
  InventTimes(1);
  WritePipeline("pooled", 4, "random", false);
  ASSERT_TRUE(Plan().status.ok());
  NinjaOk({"best/pooled.cpu.json"});
  EXPECT_TRUE(List().alternatives.empty());
  const size_t alone = List().tasks.size();
  EXPECT_EQ(alone, 4u);  // three convolutions and the dense layer
  WritePipeline("pooled", 4, "random", true);
  const auto before = AllTrials("pooled");
  NinjaOk({"best/pooled.cpu.json"});
  EXPECT_GT(List().tasks.size(), alone);
  for (const auto& [task, trials] : before) EXPECT_EQ(Trials(task), trials) << task;
  ExpectNoWork("best/pooled.cpu.json");
}

// A kernel that only an alternative needs and that never comes out right: its stamp says so, the choice leaves it out,
// and the network is built. Every chain's candidates fail here, as if the device could not run them.
TEST_F(AlternativesChain, AnAlternativeWithoutARightTrialIsLeftOut) {
  InventTimes(1);
  ASSERT_TRUE(Plan().status.ok());
  NinjaOk({"build.ninja"});
  std::set<std::string> chains;
  for (const pipeline::TaskEntry& task : List().tasks) {
    if (task.workload.find("->") == std::string::npos) continue;
    EXPECT_TRUE(task.optional) << task.workload;
    chains.insert(task.id);
  }
  ASSERT_FALSE(chains.empty());
  FailTasks(chains);
  NinjaOk({"best/pooled.cpu.json"});
  for (const std::string& id : chains) {
    EXPECT_NE(Read("work/stamps/" + id + ".cpu.done").find("\"result\": \"none\""), std::string::npos);
  }
  const auto best = pipeline::ReadBestFile(Work("best/pooled.cpu.json"));
  ASSERT_TRUE(best.ok());
  for (const pipeline::Alternative& alternative : best->alternatives) {
    for (const pipeline::AlternativeNode& node : alternative.by) {
      EXPECT_EQ(node.workload.find("->"), std::string::npos) << node.workload;
    }
  }
  ExpectNoWork("best/pooled.cpu.json");
  // A task that the network needs fails as before.
  std::string needed;
  for (const pipeline::TaskEntry& task : List().tasks) {
    if (!task.optional) needed = task.id;
  }
  FailTasks({needed});
  ASSERT_TRUE(Remove(Db(needed)).ok());
  ASSERT_TRUE(Remove(Stamp(needed)).ok());
  const CommandResult failed = Ninja({"best/pooled.cpu.json"});
  EXPECT_FALSE(failed.status.ok());
  EXPECT_NE(failed.out.find("no trial"), std::string::npos) << failed.out;
}

}  // namespace
}  // namespace hone
