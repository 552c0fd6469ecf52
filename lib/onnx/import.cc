#include "onnx/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "onnx/builder.h"
#include "onnx/context.h"
#include "onnx/operators.h"
#include "onnx/read_model.h"
#include "semantics/quantise.h"

namespace hone::onnx {
namespace {

// Far above any model, but small enough to take little time.
constexpr size_t kMaxNodes = 100000;

std::string PlainName(const std::string& name) {
  std::string out;
  for (char ch : name) {
    const bool plain = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_' ||
                       ch == '.' || ch == '-';
    out += plain ? ch : '_';
  }
  return out.empty() ? "model" : out;
}

std::set<std::string> NamesOf(const Model& model) {
  std::set<std::string> names;
  for (const ModelInput& input : model.inputs) names.insert(input.name);
  for (const Constant& tensor : model.initialisers) names.insert(tensor->name);
  for (const ModelNode& node : model.nodes) names.insert(node.outputs.begin(), node.outputs.end());
  return names;
}

class Importer {
 public:
  Importer(const Model& model, const std::string& name, const ImportOptions& options)
      : model_(model), options_(options), builder_(PlainName(name), NamesOf(model), options.fold_limit) {}

  Result<ImportedModel> Run() {
    HONE_RETURN_IF_ERROR(CheckVersions(model_));
    if (model_.nodes.size() > kMaxNodes) return Status::Unsupported("more than {} nodes", kMaxNodes);
    for (const Constant& tensor : model_.initialisers) values_[tensor->name] = ConstantValue(tensor);
    HONE_RETURN_IF_ERROR(Inputs());
    HONE_ASSIGN_OR_RETURN(const std::vector<const ModelNode*> order, Order());
    for (const ModelNode* node : order) {
      const Status status = AddNode(*node);
      if (!status.ok()) return status.WithContext(NodeText(*node, model_));
    }
    HONE_RETURN_IF_ERROR(Outputs());
    if (!builder_.graph().outputs.empty()) {
      DropUnreadParameters();
      HONE_RETURN_IF_ERROR(graph::CheckGraph(&builder_.graph()));
      HONE_RETURN_IF_ERROR(UseIntegers());
    }
    imported_.graph = std::move(builder_.graph());
    imported_.values = std::move(builder_.values());
    return std::move(imported_);
  }

 private:
  // The nodes that an output needs, each after its inputs. The caller handles tensors that no node makes.
  Result<std::vector<const ModelNode*>> Order() const {
    std::map<std::string, size_t> makers;
    for (size_t i = 0; i < model_.nodes.size(); ++i) {
      for (const std::string& output : model_.nodes[i].outputs) {
        if (output.empty() || makers.emplace(output, i).second) continue;
        return Status::Invalid(NodeText(model_.nodes[i], model_) + ": makes `" + output + "`, which another one makes");
      }
    }
    const auto makers_of = [&](const std::vector<std::string>& tensors) {
      std::vector<size_t> found;
      for (const std::string& tensor : tensors) {
        if (const auto maker = makers.find(tensor); maker != makers.end()) found.push_back(maker->second);
      }
      return found;
    };
    std::vector<std::vector<size_t>> needs;
    for (const ModelNode& node : model_.nodes) needs.push_back(makers_of(node.inputs));
    const auto name = [&](size_t i) {
      const ModelNode& node = model_.nodes[i];
      return node.name.empty() ? node.outputs[0] : node.name;
    };
    HONE_ASSIGN_OR_RETURN(const auto order, graph::OrderByNeeds(needs, makers_of(model_.outputs), name));
    std::vector<const ModelNode*> nodes;
    for (const size_t i : order) nodes.push_back(&model_.nodes[i]);
    return nodes;
  }

  Status Inputs() {
    std::vector<std::string> names;
    for (const ModelInput& input : model_.inputs) names.push_back(input.name);
    // Before the shapes: an input whose name is misspelt in `shapes` has open dimensions.
    for (const auto& [name, shape] : options_.shapes) {
      if (std::ranges::find(names, name) != names.end()) continue;
      return Status::Invalid("no input `" + name + "` to give a shape" + SuggestionText(name, names));
    }
    for (const ModelInput& input : model_.inputs) {
      if (!values_.emplace(input.name, Value()).second) {
        return Status::Invalid("two tensors are named `" + input.name + "`");
      }
      if (const auto constant = options_.constants.find(input.name); constant != options_.constants.end()) {
        values_[input.name] = ConstantValue(constant->second);
        continue;
      }
      HONE_ASSIGN_OR_RETURN(const Shape shape, InputShape(input));
      values_[input.name] = builder_.AddInput(input.name, {*KernelType(input.type), shape});
    }
    return Status();
  }

  Result<Shape> InputShape(const ModelInput& input) const {
    const std::string what = "input `" + input.name + "`";
    if (!input.is_tensor) return Status::Unsupported(what + " is not a tensor");
    if (!KernelType(input.type)) {
      return Status::Unsupported("{} is {}; inputs of float32, uint8, int8 and int32 are supported", what,
                                 ElementTypeName(input.type));
    }
    Shape shape;
    std::string text;
    bool open = !input.has_shape;
    for (size_t i = 0; i < input.shape.size(); ++i) {
      open = open || !input.shape[i];
      shape.push_back(input.shape[i].value_or(0));
      text += (i ? "," : "") + (input.shape[i]             ? std::to_string(shape[i])
                                : input.symbols[i].empty() ? "?"
                                                           : input.symbols[i]);
    }
    const auto given = options_.shapes.find(input.name);
    if (given != options_.shapes.end()) {
      if (input.has_shape && given->second.size() != input.shape.size()) {
        return Status::Invalid("{} has {} dimensions, [{}], but its given shape {} has {}", what, input.shape.size(),
                               text, ShapeText(given->second), given->second.size());
      }
      shape = given->second;
    } else if (open) {
      return Status::Invalid(
          "{} has open dimensions, [{}]: fix them with `[input] {} = [..]` in the pipeline file, or --input {}=..",
          what, input.has_shape ? text : "unknown", input.name, input.name);
    }
    for (int64_t extent : shape) {
      if (extent == 0) return Status::Unsupported("{}: {} is empty", what, ShapeText(shape));
      if (extent < 0) return Status::Invalid("{}: {} has an extent below 1", what, ShapeText(shape));
    }
    const auto count = CountElements(shape);
    if (!count.ok()) return count.status().WithContext(what);
    return shape;
  }

  Status AddNode(const ModelNode& node) {
    HONE_RETURN_IF_ERROR(CheckNodeKind(node, model_.Opset()));
    const auto first = std::ranges::find_if(node.outputs, [](const std::string& name) { return !name.empty(); });
    if (first == node.outputs.end()) return Status();  // nothing can read it
    std::vector<const Value*> inputs;
    for (const std::string& name : node.inputs) {
      if (name.empty()) {
        inputs.push_back(nullptr);
        continue;
      }
      const auto found = values_.find(name);
      if (found == values_.end()) return Missing(name);
      const Value& value = found->second;
      if (value.is_constant() && !value.constant->has_values()) {
        return Status::Unsupported("its input `" + name + "` is " + ElementTypeName(value.constant->type) +
                                   ", which is not supported");
      }
      inputs.push_back(&value);
    }
    NodeContext context(node, model_.Opset(), std::move(inputs), &builder_);
    HONE_RETURN_IF_ERROR(FindOperatorEntry(node.op)->map(&context));
    HONE_RETURN_IF_ERROR(context.AttributeStatus());
    for (auto& [output, value] : context.outputs()) {
      const std::string& name = node.outputs[output];
      builder_.Rename(&value, name);
      if (!values_.emplace(name, std::move(value)).second) {
        return Status::Invalid("two tensors are named `" + name + "`");
      }
    }
    return Status();
  }

  // The error for a tensor that no node makes.
  Status Missing(const std::string& name) const {
    for (const ModelNode& node : model_.nodes) {
      const auto at = std::ranges::find(node.outputs, name);
      if (at == node.outputs.end()) continue;
      return Status::Unsupported("reads `{}`, output {} of {}, which is not supported", name, at - node.outputs.begin(),
                                 NodeText(node, model_));
    }
    std::vector<std::string> known;
    for (const auto& [other, value] : values_) known.push_back(other);
    return Status::Invalid("reads `" + name + "`, which is not an input, an initialiser or a node's output" +
                           SuggestionText(name, known));
  }

  Status Outputs() {
    if (model_.outputs.empty()) return Status::Invalid("the model has no output");
    graph::Graph& graph = builder_.graph();
    std::set<std::string> nodes, taken;
    for (const graph::Node& node : graph.nodes) nodes.insert(node.name);
    for (const std::string& name : model_.outputs) {
      const std::string what = "output `" + name + "`";
      const auto found = values_.find(name);
      if (found == values_.end()) return Missing(name).WithContext(what);
      const Value& value = found->second;
      if (value.is_constant()) {
        if (!options_.constant_outputs) {
          return Status::Unsupported(what + " is a constant, which no input changes; remove it from the outputs");
        }
        imported_.constant_outputs[name] = *value.constant;
        continue;
      }
      // If it is another tensor's value: DropIdentity lets the producer take over the output's name. For an input, or a
      // tensor that is already an output, this is a copy.
      if (value.tensor == name && nodes.count(name) == 0) return Status::Unsupported(what + " is an input");
      if (value.tensor != name) {
        const auto& outputs = model_.outputs;
        const bool copy = nodes.count(value.tensor) == 0 || taken.count(value.tensor) != 0 ||
                          std::ranges::find(outputs, value.tensor) != outputs.end();
        graph::Node node;
        node.name = name;
        node.workload.op = copy || !value.type.is_float() ? "reshape" : "identity";
        node.workload.inputs = {{value.type, value.shape}};
        if (node.workload.op == "reshape" && !value.shape.empty())
          node.workload.attributes = {Numbers("shape", value.shape)};
        node.inputs = {value.tensor};
        graph.nodes.push_back(std::move(node));
        taken.insert(value.tensor);
      }
      graph.outputs.push_back(name);
    }
    return Status();
  }

  Status UseIntegers() {
    graph::Graph& graph = builder_.graph();
    const bool quantised = std::ranges::any_of(
        graph.nodes, [](const graph::Node& node) { return semantics::IsDequantise(node.workload); });
    return quantised ? graph::UseIntegers(builder_.grids(), graph::SameGrids::kByValue, &graph, &builder_.values())
                     : Status();
  }

  // A constant that only folded nodes read is not a parameter of the network.
  void DropUnreadParameters() {
    graph::Graph& graph = builder_.graph();
    const auto reads = graph::CountReads(graph);
    std::erase_if(graph.parameters, [&](const graph::Parameter& p) { return reads.count(p.name) == 0; });
    graph::KeepReadParameters(graph, &builder_.values());
  }

  const Model& model_;
  const ImportOptions& options_;
  Builder builder_;
  std::map<std::string, Value> values_;
  ImportedModel imported_;
};

}  // namespace

Status CheckVersions(const Model& model) {
  const int64_t opset = model.Opset();
  const auto& nodes = model.nodes;
  const bool own = std::ranges::any_of(nodes, [](const ModelNode& node) { return node.domain.empty(); });
  if (!own && !nodes.empty() && opset == 0) return Status();  // its nodes have other domains; mapping reports that
  if (opset == 0) return Status::Invalid("it does not say which opset of ONNX it uses");
  if (opset < kFirstOpset) {
    return Status::Unsupported(
        "its opset {} is older than {}, the oldest that is supported; convert it with onnx.version_converter", opset,
        kFirstOpset);
  }
  if (opset <= kLastOpset) return Status();
  return Status::Unsupported(
      "its opset {} is newer than {}, the newest that is supported; export it with opset_version={}", opset, kLastOpset,
      kLastOpset);
}

std::string NodeText(const ModelNode& node, const Model& model) {
  const std::string name = !node.name.empty() ? node.name : node.outputs.empty() ? "" : node.outputs[0];
  const std::string domain = node.domain.empty() ? "" : node.domain + "::";
  const auto opset = model.opsets.find(node.domain);
  return fmt::format("node `{}` ({}{}, opset {})", name, domain, node.op,
                     opset == model.opsets.end() ? "unknown" : std::to_string(opset->second));
}

Result<InputShapes> ParseInputShapes(const std::vector<std::string>& flags) {
  InputShapes shapes;
  for (const std::string& flag : flags) {
    const size_t equals = flag.rfind('=');
    const Status wrong = Status::Invalid("--input " + flag + ": expected NAME=1,3,224,224");
    if (equals == std::string::npos || equals == 0) return wrong;
    Shape shape;
    for (const std::string& piece : Split(std::string_view(flag).substr(equals + 1), ',')) {
      const auto extent = ParseInt(piece);
      if (!extent.ok() || *extent < 1) return wrong;
      shape.push_back(*extent);
    }
    if (!shapes.emplace(flag.substr(0, equals), shape).second) {
      return Status::Invalid("--input " + flag + ": the input has a shape already");
    }
  }
  return shapes;
}

Result<ImportedModel> Import(const Model& model, const std::string& name, const ImportOptions& options) {
  return Importer(model, name, options).Run();
}

Result<ImportedModel> ReadOnnx(const std::string& path, const InputShapes& shapes) {
  HONE_ASSIGN_OR_RETURN(const Model model, ReadModel(path));
  ImportOptions options;
  options.shapes = shapes;
  const std::string file = BaseName(path);
  auto imported = Import(model, file.substr(0, file.rfind('.')), options);
  if (!imported.ok()) return imported.status().WithContext(path);
  imported->external = model.external;
  return imported;
}

}  // namespace hone::onnx
