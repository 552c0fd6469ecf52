#include "onnx/node_order.h"

#include <map>

#include "onnx/import.h"

namespace hone::onnx {
namespace {

constexpr size_t kMostNamed = 8;  // nodes of a cycle that a message lists

}  // namespace

Result<std::vector<const ModelNode*>> OrderNodes(const Model& model) {
  std::map<std::string, size_t> makers;
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    for (const std::string& output : model.nodes[i].outputs) {
      if (output.empty() || makers.emplace(output, i).second) continue;
      return Status::Invalid(NodeText(model.nodes[i], model) + ": makes `" + output + "`, which another one makes");
    }
  }
  // Depth first with an explicit stack: models may be deep. 0 new, 1 on the stack, 2 placed.
  std::vector<int> state(model.nodes.size(), 0);
  std::vector<const ModelNode*> order;
  for (const std::string& output : model.outputs) {
    const auto root = makers.find(output);
    if (root == makers.end() || state[root->second] != 0) continue;
    std::vector<std::pair<size_t, size_t>> stack = {{root->second, 0}};  // node, next input
    state[root->second] = 1;
    while (!stack.empty()) {
      auto& [at, next] = stack.back();
      const ModelNode& node = model.nodes[at];
      if (next == node.inputs.size()) {
        state[at] = 2;
        order.push_back(&node);
        stack.pop_back();
        continue;
      }
      const auto maker = makers.find(node.inputs[next++]);
      if (maker == makers.end() || state[maker->second] == 2) continue;
      if (state[maker->second] == 0) {
        state[maker->second] = 1;
        stack.emplace_back(maker->second, 0);
        continue;
      }
      std::string names;
      size_t begin = 0;
      while (stack[begin].first != maker->second) ++begin;
      for (size_t i = begin; i < stack.size() && i < begin + kMostNamed; ++i) {
        const ModelNode& on = model.nodes[stack[i].first];
        names += "`" + (on.name.empty() ? on.outputs[0] : on.name) + "` <- ";
      }
      if (stack.size() - begin > kMostNamed) names += ".. <- ";
      const ModelNode& back = model.nodes[maker->second];
      return Status::Invalid("the nodes form a cycle: " + names + "`" +
                             (back.name.empty() ? back.outputs[0] : back.name) + "`");
    }
  }
  return order;
}

}  // namespace hone::onnx
