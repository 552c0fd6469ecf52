// An alternative in files (tasks/*.tasks.json, best/*.json); lib/graph/alternatives.h explains alternatives:
//   {"replaces": ["conv1", "pool1"],
//    "by": [{"name": "pool1", "workload": "conv2d(..) + bias -> max_pool2d(..)", "inputs": ["data", "w", "b"]}]}
#pragma once

#include <string>
#include <vector>

namespace hone {
class Fields;
}

namespace hone::pipeline {

struct AlternativeNode {
  std::string name;                 // of the replaced node, or of a new one
  std::string workload;             // canonical text
  std::vector<std::string> inputs;  // tensors, as for a graph's nodes
  bool operator==(const AlternativeNode&) const = default;
};

struct Alternative {
  std::vector<std::string> replaces;  // nodes of the graph
  std::vector<AlternativeNode> by;    // at least one
  bool operator==(const Alternative&) const = default;
};

void ListFields(Fields* f, Alternative* alternative);

}  // namespace hone::pipeline
