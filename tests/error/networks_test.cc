// Networks and tasks: invalid ones are rejected with their place (unit/graph has the mistakes of graph files); those
// that are only unusual are tuned and built.
#include <fmt/format.h>

#include "error_folder.h"
#include "graph/graph.h"
#include "graph/network_builder.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone {
namespace {

class Networks : public ErrorFolder {
 protected:
  static std::string TaskText(const std::string& workload) {
    const std::string target = HostTarget()->Text();
    return fmt::format(R"({{"version": 1, "id": "{}", "workload": "{}", "target": "{}", "flop": 1000}})",
                       TaskId(*Workload::Parse(workload), target), workload, target);
  }
};

TEST_F(Networks, BuiltInOnesThatAreNotKnown) {
  ExpectRefused(With("hone-extract", "--network", "resnet-81"), {"resnet-81", "did you mean `resnet-18`?"});
  ExpectRefused(With("hone-extract", "--network", "nothing-like-it"), {"nothing-like-it", "resnet-18"});
  ExpectRefused(With("hone-extract", "--network", "resnet-18") + Words{"--batch", "0"}, {"batch 0"});
}

// Before anything is tuned.
TEST_F(Networks, WeightsThatAreInputs) {
  Write("bad/in.json", R"_({"version": 2, "name": "g", "seed": 1,
    "inputs": [{"name": "x", "type": "u8", "shape": [1,8]}, {"name": "w", "type": "i8", "shape": [4,8]}],
    "outputs": ["y"], "parameters": [],
    "nodes": [{"name": "y", "workload": "dense(u8[1,8], i8[4,8])", "inputs": ["x", "w"]}]})_");
  ExpectRefused(With("hone-extract", "--network", "bad/in.json"),
                {"bad/in.json", "node `y`: its weight must be a parameter, but `w` is an input of the network"});
}

TEST_F(Networks, TasksThatCannotBeComputed) {
  for (const auto& [workload, part] : std::vector<std::pair<std::string, std::string>>{
           {"conv2dd(f32[1,32,14,14], f32[32,32,3,3])", "did you mean `conv2d`?"},
           {"conv2d(f32[1,32,2,2], f32[32,32,3,3])", "no output"},
           {"conv2d(f32[1,32,14,14], f32[32,31,3,3])", "31"},
           {"conv2d(f32[1,32,14,14])", "conv2d"},
           {"dense(f32[1,64], f32[10,32])", "32"}}) {
    Write("bad/t.task.json", TaskText(workload));
    ExpectRefused(With("hone-tune", "--task", "bad/t.task.json"), {"bad/t.task.json", part});
  }
}

// Prime, 1, or smaller than a vector: all legal, so they must have points, compile and be right.
TEST_F(Networks, OddExtentsAreTunedForReal) {
  Write(
      "odd.tune.json",
      R"({"version": 1, "trials": 2, "measure": {"candidate_seconds": 0.005, "timeout_seconds": 120, "finalists": 1}})");
  RealTimes();
  for (const char* workload :
       {"conv2d(f32[1,13,17,11], f32[7,13,3,3], pad=1,1,1,1) + bias + relu", "conv2d(f32[1,1,1,1], f32[1,1,1,1])",
        "conv2d(f32[1,3,5,1], f32[5,3,5,1], stride=3x1)", "dense(f32[1,7], f32[3,7]) + bias"}) {
    SCOPED_TRACE(workload);
    Write("odd.task.json", TaskText(workload));
    const CommandResult result = ExpectOk(Tool("hone-tune", {"--task", "odd.task.json", "--settings", "odd.tune.json",
                                                             "--db", "new/o.db", "--stamp", "new/o.done"}));
    ExpectHasNot(result.err, {"wrong"});
    EXPECT_TRUE(Has("new/o.done"));
    Delete("new");
  }
  InventTimes(5);
}

TEST_F(Networks, OfOddExtentsAreBuiltAndRight) {
  graph::NetworkBuilder net("odd", 3);
  std::string x = net.Input("data", {1, 3, 13, 7});
  x = net.Relu("r1", net.Conv("c1", x, 5, {{3}, {1}, {1}}));
  x = net.MaxPool("p", net.Conv("c2", x, 1, {}), {{2}, {2}});
  x = net.Conv("c3", x, 17, {{3}, {2}, {1}});
  const std::string out = net.Dense("fc", net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", x)), 3);
  Write("odd.json", graph::GraphText(net.Finish({out})));
  ExpectOk(RunTool(With("hone-extract", "--network", "odd.json")));
  ExpectOk(Tool("hone-build", {"--graph", "new/one.graph.json", "--target", "work/targets/cpu.json", "--untuned",
                               "--out", "new/odd"}));
  ExpectOk(Tool("hone-bench", {"--lib", "new/odd", "--settings", "work/settings/one.bench.json"}));
  Delete("new");
}

}  // namespace
}  // namespace hone
