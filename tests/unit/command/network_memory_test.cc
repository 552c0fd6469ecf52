// The memory bounds of a network of four layers and their alternatives, with invented kernels.
#include "command/pick_best/network_memory.h"

#include "common/expect.h"
#include "graph/graph.h"
#include "op/operator.h"

namespace hone::command {
namespace {

constexpr char kTarget[] = "cpu -features=avx2";
constexpr char kA[] = "dense(f32[1,8], f32[8,8])";
constexpr char kB[] = "dense(f32[1,8], f32[4,8]) + bias";
constexpr char kChain[] =
    "conv2d(f32[1,8,4,4], f32[8,8,3,3], pad=1,1,1,1) -> max_pool2d(f32[1,8,4,4], kernel=2x2, stride=2x2)";

// Two layers a with separate weights, a third with those of the first; b. Bytes: 2 x 256, 128 + 16.
graph::Graph Dense() {
  return Must(graph::ParseGraph(R"json({"version": 1, "name": "n", "seed": 1,
    "inputs": [{"name": "data", "shape": [1,8]}], "outputs": ["b"],
    "parameters": [{"name": "w1", "shape": [8,8], "init": "he", "fan_in": 8},
                   {"name": "w2", "shape": [8,8], "init": "he", "fan_in": 8},
                   {"name": "w3", "shape": [4,8], "init": "he", "fan_in": 8},
                   {"name": "unread", "shape": [4,8], "init": "he", "fan_in": 8},
                   {"name": "bias", "shape": [4], "init": "constant", "value": 0}],
    "nodes": [{"name": "a1", "workload": "dense(f32[1,8], f32[8,8])", "inputs": ["data", "w1"]},
              {"name": "a2", "workload": "dense(f32[1,8], f32[8,8])", "inputs": ["a1", "w2"]},
              {"name": "a3", "workload": "dense(f32[1,8], f32[8,8])", "inputs": ["a2", "w1"]},
              {"name": "b", "workload": "dense(f32[1,8], f32[4,8]) + bias", "inputs": ["a3", "w3", "bias"]}]})json",
                                "n.json"));
}

std::string Id(const std::string& workload) { return TaskId(*op::ParseChecked(workload), kTarget); }

KernelCosts Costs(std::map<std::string, std::vector<KernelCost>> by_workload) {
  std::map<std::string, std::vector<KernelCost>> by_id;
  for (auto& [workload, kernels] : by_workload) by_id[Id(workload)] = std::move(kernels);
  return [by_id](const std::string& id, const Workload& workload) -> Result<std::vector<KernelCost>> {
    EXPECT_EQ(id, TaskId(workload, kTarget));
    const auto found = by_id.find(id);
    if (found == by_id.end()) return Status::NotFound("nobody asked for " + workload.Text());
    return found->second;
  };
}

TEST(NetworkMemory, CountsWhatNodesReadOnceForEachSetOfParameters) {
  const pipeline::TaskList list{"n", kTarget, "cpu", {}};
  const auto costs = Costs({{kA, {{1, 1024}, {2, 256}}}, {kB, {{1, 144}}}});
  const NetworkMemory wide = Must(BoundMemory(Dense(), list, 4, costs));
  EXPECT_EQ(wide.own, 2 * 256 + 128 + 16);
  EXPECT_EQ(wide.most, 4 * wide.own);
  EXPECT_EQ(wide.tasks, 2);
  EXPECT_EQ(wide.bytes, 2 * 1024 + 144);
  EXPECT_EQ(wide.bounds, (std::map<std::string, int64_t>{{Id(kA), 1024}, {Id(kB), 144}}));
  const NetworkMemory tight = Must(BoundMemory(Dense(), list, 3, costs));
  EXPECT_EQ(tight.bytes, tight.own);
  EXPECT_EQ(tight.chosen.changed, 1);
  EXPECT_DOUBLE_EQ(tight.chosen.seconds, 3);  // three runs of it
  EXPECT_EQ(tight.bounds.at(Id(kA)), 256);
}

// The rest goes to kernels in reach of a finalist, but not to slower ones.
TEST(NetworkMemory, FinalistsMayUseWhatIsLeft) {
  const pipeline::TaskList list{"n", kTarget, "cpu", {}};
  const auto costs = Costs({{kA, {{1, 256}, {1.2, 300}, {1.4, 310}, {1.25, 9999}}}, {kB, {{1, 144}}}});
  const NetworkMemory memory = Must(BoundMemory(Dense(), list, 2, costs));
  EXPECT_EQ(memory.bounds.at(Id(kA)), 300);
  EXPECT_EQ(memory.bytes, memory.own);
  EXPECT_EQ(Must(BoundMemory(Dense(), list, 1, costs)).bounds.at(Id(kA)), 256);
}

// conv (weights of 2304 bytes) and pool, or one kernel for both.
TEST(NetworkMemory, AnAlternativeMayTakeWhatItsNodesWereGiven) {
  const std::string conv = "conv2d(f32[1,8,4,4], f32[8,8,3,3], pad=1,1,1,1)";
  const auto graph = Must(graph::ParseGraph(R"json({"version": 1, "name": "n", "seed": 1,
    "inputs": [{"name": "data", "shape": [1,8,4,4]}], "outputs": ["p"],
    "parameters": [{"name": "w", "shape": [8,8,3,3], "init": "he", "fan_in": 72}],
    "nodes": [{"name": "c", "workload": "conv2d(f32[1,8,4,4], f32[8,8,3,3], pad=1,1,1,1)", "inputs": ["data", "w"]},
              {"name": "p", "workload": "max_pool2d(f32[1,8,4,4], kernel=2x2, stride=2x2)", "inputs": ["c"]}]})json",
                                            "n.json"));
  pipeline::TaskList list{"n", kTarget, "cpu", {}};
  list.alternatives = {{{"c", "p"}, {{"p", kChain, {"data", "w"}}}}};
  // Four times the weights are faster in both variants.
  const auto costs = Costs({{conv, {{1, 4 * 2304}, {2, 2304}}}, {kChain, {{1, 4 * 2304}, {1.1, 2304}}}});
  const NetworkMemory tight = Must(BoundMemory(graph, list, 2, costs));
  EXPECT_EQ(tight.bounds, (std::map<std::string, int64_t>{{Id(conv), 2304}, {Id(kChain), 2304}}));
  const NetworkMemory wide = Must(BoundMemory(graph, list, 4, costs));
  EXPECT_EQ(wide.bounds, (std::map<std::string, int64_t>{{Id(conv), 4 * 2304}, {Id(kChain), 4 * 2304}}));
}

// One more copy of a, in the place of b: with 1024 bytes where b got 144.
TEST(NetworkMemory, AnAlternativeThatIsATaskOfTheNetworkNeedsRoomForOneMore) {
  pipeline::TaskList list{"n", kTarget, "cpu", {}};
  list.alternatives.push_back({{"b"}, {{"b", kA, {"a3", "w3"}}}});
  const auto costs = Costs({{kA, {{1, 1024}, {1.2, 1100}}}, {kB, {{1, 144}}}});
  const auto bound = [&](double times) { return BoundMemory(Dense(), list, times, costs); };
  const NetworkMemory tight = Must(bound(4));  // 2624 bytes, of which 432 are left
  EXPECT_EQ(tight.left_out, std::set<size_t>{0});
  EXPECT_EQ(tight.bounds.at(Id(kA)), 1100);
  const NetworkMemory wide = Must(bound(5));  // 1088 are left: 208 after the third copy, too few for 3 x 76
  EXPECT_TRUE(wide.left_out.empty());
  EXPECT_EQ(wide.bounds.at(Id(kA)), 1024);
  const NetworkMemory beyond = Must(bound(1));
  EXPECT_FALSE(beyond.chosen.reached);
  EXPECT_EQ(beyond.left_out, std::set<size_t>{0});
}

// a1 and a3 read the same weights, so replacing a1 frees nothing as long as a3 remains.
TEST(NetworkMemory, AnAlternativeIsGivenNothingThatAnotherNodeStillNeeds) {
  const std::string other = "dense(f32[1,8], f32[8,8]) + relu";
  const auto costs = Costs({{kA, {{1, 1024}, {2, 256}}}, {kB, {{1, 144}}}, {other, {{1, 256}}}});
  const auto bound = [&](const std::string& node, double times) {
    pipeline::TaskList list{"n", kTarget, "cpu", {}};
    list.alternatives.push_back({{node}, {{node, other, {"data", "w1"}}}});
    return Must(BoundMemory(Dense(), list, times, costs)).bounds.at(Id(other));
  };
  EXPECT_EQ(bound("a1", 1), 0);
  EXPECT_EQ(bound("a2", 1), 256);  // it has weights of its own
  EXPECT_EQ(bound("a1", 2), 256);  // from the rest
}

// A parameter that a sum reads is not packed by any kernel, but takes memory as well.
TEST(NetworkMemory, ParametersThatAreDataCountAsTheyAre) {
  const auto graph = Must(graph::ParseGraph(R"json({"version": 1, "name": "n", "seed": 1,
    "inputs": [{"name": "data", "shape": [1,8]}], "outputs": ["s"],
    "parameters": [{"name": "w", "shape": [8,8], "init": "he", "fan_in": 8},
                   {"name": "v", "shape": [1,8], "init": "constant", "value": 1}],
    "nodes": [{"name": "a", "workload": "dense(f32[1,8], f32[8,8])", "inputs": ["data", "w"]},
              {"name": "s", "workload": "add(f32[1,8], f32[1,8])", "inputs": ["a", "v"]}]})json",
                                            "n.json"));
  const pipeline::TaskList list{"n", kTarget, "cpu", {}};
  const NetworkMemory memory = Must(BoundMemory(graph, list, 1, Costs({{kA, {{1, 257}, {2, 256}}}})));
  EXPECT_EQ(memory.own, 256 + 32);
  EXPECT_EQ(memory.bytes, 256 + 32);
  EXPECT_EQ(memory.bounds.at(Id(kA)), 256);
}

}  // namespace
}  // namespace hone::command
