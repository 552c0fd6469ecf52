#include "graph/drop_identity.h"

#include <algorithm>
#include <map>
#include <set>

namespace hone::graph {
namespace {

bool PassesOn(const Node& node) {
  if (!node.workload.epilogue.empty() || node.workload.chain()) return false;
  const std::string& op = node.workload.op;
  if (op == "dropout" || op == "identity") return true;
  if (op == "reshape" || op == "expand") return node.output == node.workload.inputs[0];
  if (op.find("_pool2d") == std::string::npos && op.find("_pool3d") == std::string::npos) return false;
  auto all = [&](const char* name, int64_t value, int64_t fallback) {
    const std::vector<int64_t> values = node.workload.Numbers(name, {fallback});
    return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == value; });
  };
  return all("kernel", 1, 0) && all("stride", 1, 1) && all("pad", 0, 0);
}

}  // namespace

bool DropIdentity(Graph* graph) {
  const std::set<std::string> outputs(graph->outputs.begin(), graph->outputs.end());
  std::map<std::string, std::string> renamed;  // what readers find under another name
  std::vector<Node> kept;
  bool changed = false;
  for (Node& node : graph->nodes) {
    for (std::string& input : node.inputs) {
      if (auto found = renamed.find(input); found != renamed.end()) input = found->second;
    }
    if (!PassesOn(node)) {
      kept.push_back(std::move(node));
      continue;
    }
    const std::string source = node.inputs[0];
    if (outputs.count(node.name) == 0) {
      renamed[node.name] = source;
      changed = true;
      continue;
    }
    // An output keeps its name: what computes it takes that over, unless it is an output itself or no node.
    Node* producer = nullptr;
    for (Node& other : kept) {
      if (other.name == source) producer = &other;
    }
    if (producer == nullptr || outputs.count(source)) {
      node.workload.op = "identity";
      node.workload.attributes.clear();
      kept.push_back(std::move(node));
      continue;
    }
    producer->name = node.name;
    for (Node& other : kept) std::replace(other.inputs.begin(), other.inputs.end(), source, node.name);
    for (auto& [from, to] : renamed) {
      if (to == source) to = node.name;
    }
    renamed[source] = node.name;
    changed = true;
  }
  graph->nodes = std::move(kept);
  return changed;
}

}  // namespace hone::graph
