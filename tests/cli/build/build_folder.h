// A temporary work folder with a tiny network in it, and the tools that turn it into a library.
#pragma once

#include <string>

#include "graph/graph.h"
#include "pipeline/best_file.h"
#include "pipeline/task_list.h"
#include "test_folder.h"

namespace hone {

class BuildFolder : public TestFolder {
 protected:
  // targets/cpu.json and tiny.json: a graph of two convolutions with a residual, 17 channels, and 20 classes.
  void SetUp() override;

  static graph::Graph Tiny();

  CommandResult Extract(const std::string& network = "tiny.json", const Words& more = {});
  CommandResult Build(const Words& more = {"--untuned"});
  // Builds from `best`, written as best/tiny.cpu.json.
  CommandResult BuildBest(const pipeline::BestFile& best);
  void ExtractAndBuild();

  pipeline::TaskList List() const;  // the one that Extract wrote
  Json Kernels() const;             // of the manifest beside the library
};

}  // namespace hone
