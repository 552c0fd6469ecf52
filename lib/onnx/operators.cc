#include "onnx/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"

namespace hone::onnx {
namespace {

constexpr const char* kSubgraphs[] = {"If", "Loop", "Scan", "SequenceMap"};

template <size_t N>
bool Among(const char* const (&names)[N], const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

const std::vector<OperatorEntry>& Operators() {
  static const std::vector<OperatorEntry> table = [] {
    std::vector<OperatorEntry> all;
    for (auto part : {WindowOperators, MatmulOperators, EinsumOperators, ElementwiseOperators, ConstantOperators,
                      ShapeOperators, ReduceOperators, NormOperators, ResizeOperators, QuantisedOperators}) {
      for (OperatorEntry& row : part()) {
        for (std::string& name : SplitWords(std::exchange(row.name, ""))) {
          all.push_back(row);
          all.back().name = std::move(name);
        }
      }
    }
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.name < b.name; });
    return all;
  }();
  return table;
}

const OperatorEntry* FindOperatorEntry(const std::string& name) {
  const auto& table = Operators();
  const auto found = std::ranges::lower_bound(table, name, {}, &OperatorEntry::name);
  return found != table.end() && found->name == name ? &*found : nullptr;
}

std::string GraphOperator(const NodeContext& c) {
  const OperatorEntry& entry = *FindOperatorEntry(c.node().op);
  std::string name = entry.graph;
  for (const char ch : entry.graph.empty() ? entry.name : "") {
    if (ch >= 'A' && ch <= 'Z' && !name.empty()) name += '_';
    name += static_cast<char>(std::tolower(ch));
  }
  return name;
}

Status CheckNodeKind(const ModelNode& node, int64_t opset) {
  const OperatorEntry* entry = FindOperatorEntry(node.op);
  if (!node.domain.empty() && (entry == nullptr || entry->domain != node.domain)) {
    if (entry == nullptr && node.op.starts_with("QLinear")) {
      return Status::Unsupported(
          "the operator is not supported; leave such nodes out when you quantise "
          "(nodes_to_exclude), or quantise in the QDQ form");
    }
    return Status::Unsupported(
        "this operator of the domain `{}` is not supported; export the model with ONNX's own "
        "operators alone",
        node.domain);
  }
  if (node.op == "DynamicQuantizeLinear") {
    return Status::Unsupported(
        "scales that are computed when the network runs are not supported; quantise the model "
        "statically, with calibration data");
  }
  if (Among(kSubgraphs, node.op)) {
    return Status::Unsupported("control flow (subgraphs) is not supported; export the model for fixed shapes");
  }
  for (const NodeAttribute& attribute : node.attributes) {
    if (attribute.kind == NodeAttribute::Kind::kGraph) {
      return Status::Unsupported("its attribute `" + attribute.name + "` is a subgraph, which is not supported");
    }
  }
  if (entry == nullptr || entry->domain != node.domain) return Status::Unsupported("the operator is not supported");
  if (node.domain.empty() && opset < entry->first_opset) {
    return Status::Invalid("the operator is there only since opset {}", entry->first_opset);
  }
  if (node.inputs.size() < entry->least || node.inputs.size() > entry->most) {
    return Status::Invalid("it takes {} inputs, has {}",
                           entry->most == entry->least ? fmt::format("{}", entry->least)
                           : entry->most == kAnyNumber ? fmt::format("at least {}", entry->least)
                                                       : fmt::format("{} to {}", entry->least, entry->most),
                           node.inputs.size());
  }
  for (size_t i = 0; i < (entry->most == kAnyNumber ? node.inputs.size() : entry->least); ++i) {
    if (node.inputs[i].empty()) return Status::Invalid("its input {} is left out", i);
  }
  return Status();
}

}  // namespace hone::onnx
