#include "graph/drop_identity.h"

#include <map>

namespace hone::graph {
namespace {

bool PassesOn(const Node& node) {
  if (!node.workload.epilogue.empty()) return false;
  const std::string& op = node.workload.op;
  if (op == "dropout" || op == "identity") return true;
  if (op != "max_pool2d" && op != "avg_pool2d") return false;
  return node.workload.Numbers("kernel", {}) == std::vector<int64_t>{1, 1} &&
         node.workload.Numbers("stride", {1, 1}) == std::vector<int64_t>{1, 1} &&
         node.workload.Numbers("pad", {0, 0, 0, 0}) == std::vector<int64_t>{0, 0, 0, 0};
}

}  // namespace

bool DropIdentity(Graph* graph) {
  std::map<std::string, std::string> replaced;  // name of a dropped node -> what its readers read instead
  std::vector<Node> kept;
  for (Node& node : graph->nodes) {
    for (std::string& input : node.inputs) {
      if (auto found = replaced.find(input); found != replaced.end()) input = found->second;
    }
    if (!PassesOn(node)) {
      kept.push_back(std::move(node));
      continue;
    }
    bool is_output = false;
    for (const std::string& output : graph->outputs) is_output |= output == node.name;
    bool computed = false, source_is_output = false;
    for (const Node& other : kept) computed |= other.name == node.inputs[0];
    for (const std::string& output : graph->outputs) source_is_output |= output == node.inputs[0];
    if (is_output && (!computed || source_is_output)) {
      node.workload.op = "identity";
      node.workload.attributes.clear();
      kept.push_back(std::move(node));
      continue;
    }
    replaced[node.name] = node.inputs[0];
  }
  graph->nodes = std::move(kept);
  for (std::string& output : graph->outputs) {
    if (auto found = replaced.find(output); found != replaced.end()) output = found->second;
  }
  return !replaced.empty();
}

}  // namespace hone::graph
