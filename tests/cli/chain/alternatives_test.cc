// Choices over the whole network, by real tools under a real Ninja. Times of single kernels are simulated, so that the
// test can compute the right choice from the records.
#include "base/json.h"
#include "base/text.h"
#include "chain_folder.h"
#include "graph/graph.h"
#include "graph/network_builder.h"

namespace hone {
namespace {

class AlternativesChain : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    for (const char* name : {"one", "two"}) Delete(std::string("pipelines/") + name + ".toml");
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

  // Plans with simulated times.
  void Begin(uint64_t seed) {
    InventTimes(seed);
    ExpectOk(Plan());
  }

  pipeline::TaskList List() const { return ChainFolder::List("pooled"); }

  // The least sum over all sets of alternatives that do not overlap. No transform is shared in this network.
  double LeastSum(const pipeline::BestFile& best) const {
    std::map<std::string, double> seconds;  // by workload
    for (const pipeline::BestEntry& entry : best.tasks) seconds[entry.workload] = entry.median;
    const auto graph = Must(graph::ReadGraph(Work("nets/pooled.graph.json"), nullptr));
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
      for (const graph::Node& node : graph.nodes) {
        auto known = seconds.find(node.workload.Text());
        if (!gone.count(node.name) && known != seconds.end()) sum += known->second;
      }
      least = std::min(least, sum);
    }
    return least;
  }
};

TEST_F(AlternativesChain, TheLeastSumOfTheRecordsIsTakenAndBuilt) {
  Begin(1);
  NinjaOk({"tune-pooled-cpu"});
  ExpectNoWork("tune-pooled-cpu");
  const pipeline::BestFile best = Best("pooled.cpu");
  ASSERT_TRUE(best.partition);
  EXPECT_NEAR(best.partition->chosen_seconds, LeastSum(best), 1e-9);
  EXPECT_EQ(best.partition->taken, static_cast<int64_t>(best.alternatives.size()));
  EXPECT_TRUE(best.partition->exact);
  EXPECT_GT(best.alternatives.size(), 0u);
  EXPECT_LT(best.alternatives.size(), List().alternatives.size());
  // Tasks without a choice are measured as well, once.
  for (const pipeline::TaskEntry& task : List().tasks) {
    if (StartsWith(task.workload, "max_pool2d(") || StartsWith(task.workload, "block(")) {
      EXPECT_EQ(Trials(task.id).size(), 1u) << task.workload;
    }
  }

  ExpectVerified("pooled.cpu");
  const pipeline::BestFile choice = Best("pooled.cpu.choice"), confirmed = Best("pooled.cpu.confirmed");
  std::set<std::string> built;
  const Json manifest = ReadJson("work/out/pooled.cpu/manifest.json");
  for (const Json& kernel : manifest["kernels"]) built.insert(kernel["workload"]);
  for (const pipeline::BestEntry& entry : choice.tasks) EXPECT_TRUE(built.count(entry.workload)) << entry.workload;
  for (const pipeline::Alternative& alternative : choice.alternatives) {
    for (const pipeline::AlternativeNode& node : alternative.by) EXPECT_TRUE(built.count(node.workload));
  }
  // The measurements of both ways are in the other file.
  ASSERT_TRUE(confirmed.in_network);
  EXPECT_EQ(confirmed.alternatives, choice.alternatives);
  for (const pipeline::ComparedChoice& c : confirmed.in_network->compared) {
    EXPECT_GT(c.with_seconds, 0) << c.what;
    EXPECT_GT(c.without_seconds, 0) << c.what;
  }
}

// A group without a template of its own: dense -> sigmoid, and a swish that reads the dense layer twice.
TEST_F(AlternativesChain, GroupsOfOtherOperatorsAreTakenAndBuilt) {
  Delete("pipelines/pooled.toml");
  Write("pipelines/models/swish.json", R"json({"version": 1, "name": "swish", "seed": 1,
      "inputs": [{"name": "data", "shape": [8,24]}], "outputs": ["out"],
      "parameters": [{"name": "w", "shape": [32,24], "init": "he", "fan_in": 24},
                     {"name": "v", "shape": [16,32], "init": "he", "fan_in": 32}],
      "nodes": [{"name": "fc", "workload": "dense(f32[8,24], f32[32,24])", "inputs": ["data", "w"]},
                {"name": "gate", "workload": "sigmoid(f32[8,32])", "inputs": ["fc"]},
                {"name": "swish", "workload": "mul(f32[8,32], f32[8,32])", "inputs": ["fc", "gate"]},
                {"name": "last", "workload": "dense(f32[8,32], f32[16,32])", "inputs": ["swish", "v"]},
                {"name": "out", "workload": "tanh(f32[8,16])", "inputs": ["last"]}]})json");
  WritePipeline("swish", 6, "random", true);
  Begin(2);
  NinjaOk({"tune-swish-cpu"});
  std::vector<std::vector<std::string>> places;
  for (const pipeline::Alternative& a : ChainFolder::List("swish").alternatives) places.push_back(a.replaces);
  EXPECT_EQ(places,
            (std::vector<std::vector<std::string>>{{"fc", "gate", "swish"}, {"gate", "swish"}, {"last", "out"}}));
  const pipeline::BestFile best = Best("swish.cpu");
  ASSERT_TRUE(best.partition);
  std::set<std::string> taken;
  for (const pipeline::Alternative& a : best.alternatives) taken.insert(a.by[0].workload);
  EXPECT_EQ(taken.count("t0 = dense(f32[8,24], f32[32,24]) -> t1 = sigmoid(f32[8,32]) -> "
                        "mul(t0:f32[8,32], t1:f32[8,32])"),
            1u);
  ExpectVerified("swish.cpu");
}

TEST_F(AlternativesChain, APipelineCanLeaveThemOut) {
  WritePipeline("pooled", 4, "random", false);
  Begin(1);
  NinjaOk({"best/pooled.cpu.json"});
  EXPECT_TRUE(List().alternatives.empty());
  EXPECT_EQ(List().tasks.size(), 4u);  // three convolutions and the dense layer
  WritePipeline("pooled", 4, "random", true);
  const auto before = AllTrials("pooled");
  NinjaOk({"best/pooled.cpu.json"});
  EXPECT_GT(List().tasks.size(), 4u);
  for (const auto& [task, trials] : before) EXPECT_EQ(Trials(task), trials) << task;
  ExpectNoWork("best/pooled.cpu.json");
}

// A kernel that only an alternative needs and that is never correct: its stamp says so, the choice leaves it out, and
// the network is built. Every chain's candidates fail here, as if the device could not run them.
TEST_F(AlternativesChain, AnAlternativeWithoutARightTrialIsLeftOut) {
  Begin(1);
  NinjaOk({"build.ninja"});
  std::set<std::string> chains;
  std::string needed;
  for (const pipeline::TaskEntry& task : List().tasks) {
    if (!task.optional) needed = task.id;
    if (task.workload.find("->") == std::string::npos) continue;
    EXPECT_TRUE(task.optional) << task.workload;
    chains.insert(task.id);
  }
  ASSERT_FALSE(chains.empty());
  FailTasks(chains);
  NinjaOk({"best/pooled.cpu.json"});
  for (const std::string& id : chains) ExpectHas(Read("work/stamps/" + id + ".cpu.done"), {"\"result\": \"none\""});
  for (const pipeline::Alternative& alternative : Best("pooled.cpu").alternatives) {
    for (const pipeline::AlternativeNode& node : alternative.by) ExpectHasNot(node.workload, {"->"});
  }
  ExpectNoWork("best/pooled.cpu.json");
  // A failure of a task that the network needs is still an error.
  FailTasks({needed});
  Delete("work/records/cpu/" + needed + ".db");
  Delete("work/stamps/" + needed + ".cpu.done");
  ExpectFails(Ninja({"best/pooled.cpu.json"}), {"no trial"});
}

}  // namespace
}  // namespace hone
