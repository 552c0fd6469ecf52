// A temporary work folder with a tiny network in it, and the tools that turn it into a library.
#pragma once

#include "base/json.h"
#include "graph/graph.h"
#include "graph/network_builder.h"
#include "pipeline/best_file.h"
#include "pipeline/task_list.h"
#include "test_folder.h"

namespace hone {

class BuildFolder : public TestFolder {
 protected:
  // targets/cpu.json and tiny.json: a graph of two convolutions with a residual, 17 channels, and 20 classes.
  void SetUp() override {
    Write("targets/cpu.json", "{\"kind\": \"cpu\", \"threads\": 2}");
    Write("tiny.json", graph::GraphText(Tiny()));
  }

  static graph::Graph Tiny() {
    graph::NetworkBuilder net("tiny", 3);
    std::string x = net.Input("data", {1, 3, 13, 13});
    x = net.Relu("r1", net.BatchNorm("b1", net.Conv("c1", x, 17, {{3}, {1}, {1}})));
    x = net.Relu("r2", net.Add("a", net.BatchNorm("b2", net.Conv("c2", x, 17, {{3}, {1}, {1}})), x));
    return net.Finish({net.Dense("fc", net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", x)), 20)});
  }

  CommandResult Extract(const std::string& network = "tiny.json", const Words& more = {}) {
    return Run(Words{HONE_EXTRACT, "--network", network, "--target", "targets/cpu.json", "--graph",
                     "nets/tiny.graph.json", "--tasks", "tasks/tiny.cpu.tasks.json", "--task-dir", "tasks"} +
               more);
  }
  CommandResult Build(const Words& more = {"--untuned"}) {
    return Run(
        Words{HONE_BUILD, "--graph", "nets/tiny.graph.json", "--target", "targets/cpu.json", "--out", "out/tiny.cpu"} +
        more);
  }
  // Builds from `best`, written as best/tiny.cpu.json.
  CommandResult BuildBest(const pipeline::BestFile& best) {
    Write("best/tiny.cpu.json", pipeline::BestFileText(best));
    return Build({"--best", "best/tiny.cpu.json"});
  }
  void ExtractAndBuild() {
    ExpectOk(Extract());
    ExpectOk(Build());
  }

  // The one that Extract wrote.
  pipeline::TaskList List() const { return Must(pipeline::ReadTaskList(Path("tasks/tiny.cpu.tasks.json"))); }
  // From the manifest beside the library.
  Json Kernels() const { return ReadJson("out/tiny.cpu/manifest.json")["kernels"]; }
};

}  // namespace hone
