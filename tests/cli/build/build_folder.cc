#include "build_folder.h"

#include "base/json.h"
#include "graph/graph.h"
#include "graph/network_builder.h"

namespace hone {

graph::Graph BuildFolder::Tiny() {
  graph::NetworkBuilder net("tiny", 3);
  std::string x = net.Input("data", {1, 3, 13, 13});
  x = net.Relu("r1", net.BatchNorm("b1", net.Conv("c1", x, 17, {{3}, {1}, {1}})));
  x = net.Relu("r2", net.Add("a", net.BatchNorm("b2", net.Conv("c2", x, 17, {{3}, {1}, {1}})), x));
  return net.Finish({net.Dense("fc", net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", x)), 20)});
}

void BuildFolder::SetUp() {
  Write("targets/cpu.json", "{\"kind\": \"cpu\", \"threads\": 2}");
  Write("tiny.json", graph::GraphText(Tiny()));
}

CommandResult BuildFolder::Extract(const std::string& network, const Words& more) {
  return Run(Words{HONE_EXTRACT, "--network", network, "--target", "targets/cpu.json", "--graph",
                   "nets/tiny.graph.json", "--tasks", "tasks/tiny.cpu.tasks.json", "--task-dir", "tasks"} +
             more);
}

CommandResult BuildFolder::Build(const Words& more) {
  return Run(
      Words{HONE_BUILD, "--graph", "nets/tiny.graph.json", "--target", "targets/cpu.json", "--out", "out/tiny.cpu"} +
      more);
}

CommandResult BuildFolder::BuildBest(const pipeline::BestFile& best) {
  Write("best/tiny.cpu.json", pipeline::BestFileText(best));
  return Build({"--best", "best/tiny.cpu.json"});
}

void BuildFolder::ExtractAndBuild() {
  ExpectOk(Extract());
  ExpectOk(Build());
}

pipeline::TaskList BuildFolder::List() const { return Must(pipeline::ReadTaskList(Path("tasks/tiny.cpu.tasks.json"))); }

Json BuildFolder::Kernels() const { return ReadJson("out/tiny.cpu/manifest.json")["kernels"]; }

}  // namespace hone
