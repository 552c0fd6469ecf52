#include "graph/graph.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

// Limits of a graph: far above any network, and small enough that sizes cannot overflow.
constexpr size_t kMaxNodes = 100000;
constexpr ptrdiff_t kMostNamed = 8;                          // nodes of a cycle that a message lists
constexpr int64_t kMaxParameterElements = int64_t{1} << 32;  // of all parameters together: 16 GiB

template <typename T>
const T* FindNamed(const std::vector<T>& items, const std::string& name) {
  for (const T& item : items) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

Status CheckType(const std::string& what, const TensorType& type) {
  const DType of = type.type;
  if (of != DType::Float(32) && of != DType::UInt(8) && of != DType::Int(8) && of != DType::Int(32)) {
    return Status::Unsupported("{} is {}; f32, u8, i8 and i32 are supported", what, type.Text());
  }
  if (type.shape.size() > 6) return Status::Invalid(what + ": must have at most 6 dimensions");
  int64_t elements = 1;
  for (int64_t extent : type.shape) {
    if (extent < 1) return Status::Invalid("{}: extent {} in {}, must be at least 1", what, extent, type.Text());
    if (extent > semantics::kMaxElements / elements) {
      return Status::Invalid("{}: {} is too large: a tensor has at most {} elements (2 GiB)", what, type.Text(),
                             semantics::kMaxElements);
    }
    elements *= extent;
  }
  return Status();
}

// Whether gamma has the channels of a transposed weight [in, channels / groups, ..].
bool FitsTransposed(const std::vector<int64_t>& weight, const std::vector<int64_t>& gamma) {
  if (weight.size() < 2 || gamma.size() != 1 || gamma[0] % weight[1] != 0) return false;
  return weight[0] % (gamma[0] / weight[1]) == 0;
}

Status CheckFold(const Graph& graph, const Parameter& p, const std::set<std::string>& before) {
  const bool transposed = p.init.kind == InitKind::kFoldTransposed;
  const bool weight = p.init.kind == InitKind::kFoldWeight || transposed;
  const std::string what = "parameter `" + p.name + "`";
  const size_t least = weight ? 3 : 4, most = weight ? 3 : 5;
  if (p.type.shape.empty()) return Status::Invalid(what + ": has no channels");
  if (p.init.from.size() < least || p.init.from.size() > most) {
    const char* kind = transposed ? "fold_transposed" : weight ? "fold_weight" : "fold_bias";
    return Status::Invalid("{}: {} takes {} sources, found {}", what, kind, weight ? "3" : "4 or 5",
                           p.init.from.size());
  }
  if (!std::isfinite(p.init.epsilon) || p.init.epsilon < 0) {
    return Status::Invalid(what + ": epsilon must be finite and 0 or more");
  }
  for (size_t i = 0; i < p.init.from.size(); ++i) {
    const std::string& source = p.init.from[i];
    if (before.count(source) == 0) {
      return Status::Invalid("{}: its source `{}` is not a parameter listed before it", what, source);
    }
    const std::vector<int64_t>& shape = graph.FindParameter(source)->type.shape;
    std::vector<int64_t> wanted = weight && i == 0 ? p.type.shape : std::vector<int64_t>{p.type.shape[0]};
    if (transposed && i == 1) {
      if (!FitsTransposed(p.type.shape, shape)) {
        return Status::Invalid("{}: its source `{}` has a wrong shape", what, source);
      }
      wanted = shape;
    }
    if (transposed && i == 2) wanted = graph.FindParameter(p.init.from[1])->type.shape;
    const bool wide_bias = i == 4 && shape == p.type.shape;  // [C,1,..], as for the result
    if (shape != wanted && !wide_bias) {
      return Status::Invalid("{}: its source `{}` has a wrong shape", what, source);
    }
  }
  if (!weight && p.type.Elements() != p.type.shape[0]) {
    return Status::Invalid(what + ": fold_bias makes one value a channel, of axis 0");
  }
  return Status();
}

Status CheckSlice(const Graph& graph, const Parameter& p, const std::set<std::string>& before) {
  const std::string what = "parameter `" + p.name + "`";
  if (p.init.from.size() != 1) return Status::Invalid("{}: slice takes 1 source, found {}", what, p.init.from.size());
  const std::string& source = p.init.from[0];
  if (before.count(source) == 0) {
    return Status::Invalid("{}: its source `{}` is not a parameter listed before it", what, source);
  }
  const std::vector<int64_t>&shape = graph.FindParameter(source)->type.shape, &begin = p.init.begin;
  bool fits = shape.size() == p.type.shape.size() && begin.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    fits = 0 <= begin[i] && begin[i] < shape[i] && p.type.shape[i] <= shape[i] - begin[i];
  }
  return fits ? Status() : Status::Invalid("{}: is not a part of its source `{}`", what, source);
}

Status CheckParameters(const Graph& graph) {
  std::set<std::string> before;
  int64_t elements = 0;
  for (const Parameter& p : graph.parameters) {
    const std::string what = "parameter `" + p.name + "`";
    HONE_RETURN_IF_ERROR(CheckType(what, p.type));
    elements += p.type.Elements();
    if (elements > kMaxParameterElements) {
      return Status::Invalid("{}: with it the parameters are too large together: at most {} elements (16 GiB)", what,
                             kMaxParameterElements);
    }
    switch (p.init.kind) {
      case InitKind::kHe:
        if (p.init.fan_in < 1) return Status::Invalid(what + ": fan_in must be at least 1");
        break;
      case InitKind::kUniform:
        if (!(p.init.low <= p.init.high) || !std::isfinite(p.init.high - p.init.low)) {
          return Status::Invalid(what + ": low must not be above high");
        }
        break;
      case InitKind::kFoldWeight:
      case InitKind::kFoldBias:
      case InitKind::kFoldTransposed:
        HONE_RETURN_IF_ERROR(CheckFold(graph, p, before));
        break;
      case InitKind::kSlice:
        HONE_RETURN_IF_ERROR(CheckSlice(graph, p, before));
        break;
      case InitKind::kValues:
        if (std::ssize(p.init.values) != p.type.Elements()) {
          return Status::Invalid("{}: {} has {} elements, but there are {} values", what, p.type.Text(),
                                 p.type.Elements(), p.init.values.size());
        }
        break;
      case InitKind::kConstant:
      case InitKind::kFile:
        break;
    }
    before.insert(p.name);
  }
  return Status();
}

// The known types of tensors by name. Kept beside the graph so that checking is not quadratic.
using TypeTable = std::map<std::string, TensorType>;

Status CheckNode(const TypeTable& types, const std::set<std::string>& node_names, Node* node) {
  const std::string what = "node `" + node->name + "`";
  if (node->inputs.size() != semantics::OperandCount(node->workload)) {
    return Status::Invalid("{}: {} takes {} operands, found {}", what, node->workload.op,
                           semantics::OperandCount(node->workload), node->inputs.size());
  }
  auto output = semantics::InferOutput(node->workload);
  if (!output.ok()) return output.status().WithContext(what);
  node->output = *output;
  HONE_RETURN_IF_ERROR(CheckType(what, node->output));
  auto operands = semantics::OperandTypes(node->workload);
  if (!operands.ok()) return operands.status().WithContext(what);
  const std::vector<TensorType>& wanted = *operands;
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto found = types.find(node->inputs[i]);
    if (found == types.end()) {
      if (node_names.count(node->inputs[i])) {
        return Status::Invalid("{}: reads `{}`, which stands after it", what, node->inputs[i]);
      }
      std::vector<std::string> known;
      for (const auto& [name, type] : types) known.push_back(name);
      auto near = Suggest(node->inputs[i], known);
      return Status::Invalid("{}: no tensor `{}`{}", what, node->inputs[i],
                             near ? "; did you mean `" + *near + "`?" : "");
    }
    if (found->second != wanted[i]) {
      return Status::Invalid("{}: operand {} must be {}, but `{}` is {}", what, i, wanted[i].Text(), node->inputs[i],
                             found->second.Text());
    }
  }
  return Status();
}

}  // namespace

const Parameter* Graph::FindParameter(const std::string& n) const { return FindNamed(parameters, n); }
const Node* Graph::FindNode(const std::string& n) const { return FindNamed(nodes, n); }
const GraphInput* Graph::FindInput(const std::string& n) const { return FindNamed(inputs, n); }

const TensorType* Graph::FindType(const std::string& n) const {
  if (const Node* node = FindNode(n)) return &node->output;
  if (const Parameter* parameter = FindParameter(n)) return &parameter->type;
  if (const GraphInput* input = FindInput(n)) return &input->type;
  return nullptr;
}

// Depth first with an explicit stack: networks may be deep.
Result<std::vector<size_t>> OrderByNeeds(const std::vector<std::vector<size_t>>& needs,
                                         const std::vector<size_t>& roots,
                                         const std::function<std::string(size_t)>& name) {
  enum class State { kNew, kOnStack, kPlaced };
  std::vector<State> states(needs.size(), State::kNew);
  std::vector<std::pair<size_t, size_t>> stack;  // a node, and the index of its next need
  const auto push = [&](size_t node) {
    states[node] = State::kOnStack;
    stack.emplace_back(node, 0);
  };
  std::vector<size_t> order;
  for (const size_t root : roots) {
    if (states[root] == State::kNew) push(root);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == needs[node].size()) {
        states[node] = State::kPlaced;
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      const size_t needed = needs[node][next++];
      if (states[needed] == State::kNew) {
        push(needed);
      } else if (states[needed] == State::kOnStack) {
        auto at = std::find_if(stack.begin(), stack.end(), [&](const auto& entry) { return entry.first == needed; });
        const bool all = stack.end() - at <= kMostNamed;
        std::string names;
        for (const auto end = all ? stack.end() : at + kMostNamed; at != end; ++at) {
          names += "`" + name(at->first) + "` <- ";
        }
        return Status::Invalid("the nodes form a cycle: " + names + (all ? "`" : ".. <- `") + name(needed) + "`");
      }
    }
  }
  return order;
}

Status SortNodes(Graph* graph) {
  std::map<std::string, size_t> index;
  std::vector<size_t> all;
  for (const Node& node : graph->nodes) {
    all.push_back(all.size());
    index[node.name] = all.back();
  }
  std::vector<std::vector<size_t>> needs(all.size());
  for (const size_t i : all) {
    for (const std::string& input : graph->nodes[i].inputs) {
      if (auto found = index.find(input); found != index.end()) needs[i].push_back(found->second);
    }
  }
  HONE_ASSIGN_OR_RETURN(const auto order, OrderByNeeds(needs, all, [&](size_t i) { return graph->nodes[i].name; }));
  std::vector<Node> sorted;
  sorted.reserve(order.size());
  for (size_t i : order) sorted.push_back(std::move(graph->nodes[i]));
  graph->nodes = std::move(sorted);
  return Status();
}

Status CheckGraph(Graph* graph) {
  if (graph->nodes.size() > kMaxNodes) return Status::Invalid("more than {} nodes", kMaxNodes);
  if (graph->inputs.empty()) return Status::Invalid("the graph has no input");
  if (graph->outputs.empty()) return Status::Invalid("the graph has no output");
  std::set<std::string> names, node_names;
  TypeTable types;
  auto add = [&](const std::string& name) {
    if (name.empty()) return Status::Invalid("a tensor has no name");
    if (!names.insert(name).second) return Status::Invalid("two tensors are named `" + name + "`");
    return Status();
  };
  for (const GraphInput& input : graph->inputs) {
    HONE_RETURN_IF_ERROR(add(input.name));
    HONE_RETURN_IF_ERROR(CheckType("input `" + input.name + "`", input.type));
    types[input.name] = input.type;
  }
  for (const Parameter& p : graph->parameters) {
    HONE_RETURN_IF_ERROR(add(p.name));
    types[p.name] = p.type;
  }
  for (const Node& node : graph->nodes) {
    HONE_RETURN_IF_ERROR(add(node.name));
    node_names.insert(node.name);
  }
  HONE_RETURN_IF_ERROR(CheckParameters(*graph));
  for (Node& node : graph->nodes) {
    HONE_RETURN_IF_ERROR(CheckNode(types, node_names, &node));
    types[node.name] = node.output;
  }
  std::set<std::string> outputs;
  for (const std::string& output : graph->outputs) {
    if (node_names.count(output) == 0) return Status::Invalid("output `" + output + "` is not computed by any node");
    if (!outputs.insert(output).second) return Status::Invalid("output `" + output + "` stands twice");
  }
  return Status();
}

Layout OutsideLayout(const Graph& graph, const TensorType& type) {
  const bool last = graph.layout == Layout::kChannelsLast && semantics::HasLayouts(type);
  return last ? Layout::kChannelsLast : Layout::kPlain;
}

std::map<std::string, int> CountReads(const Graph& graph) {
  std::map<std::string, int> reads;
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs) ++reads[input];
  }
  for (const std::string& output : graph.outputs) ++reads[output];
  return reads;
}

}  // namespace hone::graph
