#include "onnx/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "onnx/mappers.h"

namespace hone::onnx {
namespace {

constexpr size_t kAny = std::numeric_limits<size_t>::max();

constexpr const char* kSubgraphs[] = {"If", "Loop", "Scan", "SequenceMap"};
constexpr const char* kQuantised[] = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv",
                                      "QLinearMatMul",  "ConvInteger",      "MatMulInteger"};

template <size_t N>
bool Among(const char* const (&names)[N], const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

const std::vector<OperatorEntry>& Operators() {
  // name, mapper, inputs at least and at most, the first opset that has it (7, the oldest supported, if older)
  static const std::vector<OperatorEntry> kTable = {
      {"Abs", MapUnary, 1, 1, 7},
      {"Acos", MapUnary, 1, 1, 7},
      {"Acosh", MapUnary, 1, 1, 9},
      {"Add", MapBinary, 2, 2, 7},
      {"And", MapLogic, 2, 2, 7},
      {"Asin", MapUnary, 1, 1, 7},
      {"Asinh", MapUnary, 1, 1, 9},
      {"Atan", MapUnary, 1, 1, 7},
      {"Atanh", MapUnary, 1, 1, 9},
      {"AveragePool", MapPool, 1, 1, 7},
      {"BatchNormalization", MapBatchNorm, 5, 5, 7},
      {"Cast", MapCast, 1, 1, 7},
      {"CastLike", MapCast, 2, 2, 15},
      {"Ceil", MapUnary, 1, 1, 7},
      {"Celu", MapAlphaUnary, 1, 1, 12},
      {"Clip", MapClip, 1, 3, 7},
      {"Concat", MapConcat, 1, kAny, 7},
      {"Constant", MapConstant, 0, 0, 7},
      {"ConstantOfShape", MapConstantOfShape, 1, 1, 9},
      {"Conv", MapConv, 2, 3, 7},
      {"ConvTranspose", MapConvTranspose, 2, 3, 7},
      {"Cos", MapUnary, 1, 1, 7},
      {"Cosh", MapUnary, 1, 1, 9},
      {"DepthToSpace", MapDepthToSpace, 1, 1, 7},
      {"Div", MapBinary, 2, 2, 7},
      {"Dropout", MapIdentity, 1, 3, 7},
      {"Einsum", MapEinsum, 1, kAny, 12},
      {"Elu", MapAlphaUnary, 1, 1, 7},
      {"Equal", MapLogic, 2, 2, 7},
      {"Erf", MapUnary, 1, 1, 9},
      {"Exp", MapUnary, 1, 1, 7},
      {"Expand", MapExpand, 2, 2, 8},
      {"Flatten", MapFlatten, 1, 1, 7},
      {"Floor", MapUnary, 1, 1, 7},
      {"Gather", MapGather, 2, 2, 7},
      {"Gelu", MapGelu, 1, 1, 20},
      {"Gemm", MapGemm, 2, 3, 7},
      {"GlobalAveragePool", MapGlobalPool, 1, 1, 7},
      {"GlobalMaxPool", MapGlobalPool, 1, 1, 7},
      {"Greater", MapLogic, 2, 2, 7},
      {"GreaterOrEqual", MapLogic, 2, 2, 12},
      {"GroupNormalization", MapGroupNorm, 3, 3, 18},
      {"HardSigmoid", MapAlphaUnary, 1, 1, 7},
      {"HardSwish", MapUnary, 1, 1, 14},
      {"Hardmax", MapSoftmax, 1, 1, 7},
      {"Identity", MapIdentity, 1, 1, 7},
      {"InstanceNormalization", MapInstanceNorm, 3, 3, 7},
      {"LRN", MapLrn, 1, 1, 7},
      {"LayerNormalization", MapLayerNorm, 2, 3, 17},
      {"LeakyRelu", MapAlphaUnary, 1, 1, 7},
      {"Less", MapLogic, 2, 2, 7},
      {"LessOrEqual", MapLogic, 2, 2, 12},
      {"Log", MapUnary, 1, 1, 7},
      {"LogSoftmax", MapSoftmax, 1, 1, 7},
      {"LpPool", MapLpPool, 1, 1, 7},
      {"MatMul", MapMatMul, 2, 2, 7},
      {"Max", MapVariadic, 1, kAny, 7},
      {"MaxPool", MapPool, 1, 1, 7},
      {"Mean", MapVariadic, 1, kAny, 7},
      {"Min", MapVariadic, 1, kAny, 7},
      {"Mish", MapUnary, 1, 1, 18},
      {"Mod", MapLogic, 2, 2, 10},
      {"Mul", MapBinary, 2, 2, 7},
      {"Neg", MapUnary, 1, 1, 7},
      {"NonZero", MapNonZero, 1, 1, 9},
      {"Not", MapNot, 1, 1, 7},
      {"Or", MapLogic, 2, 2, 7},
      {"PRelu", MapPRelu, 2, 2, 7},
      {"Pad", MapPad, 1, 4, 7},
      {"Pow", MapBinary, 2, 2, 7},
      {"Range", MapRange, 3, 3, 11},
      {"Reciprocal", MapUnary, 1, 1, 7},
      {"ReduceL1", MapReduce, 1, 2, 7},
      {"ReduceL2", MapReduce, 1, 2, 7},
      {"ReduceLogSum", MapReduce, 1, 2, 7},
      {"ReduceLogSumExp", MapReduce, 1, 2, 7},
      {"ReduceMax", MapReduce, 1, 2, 7},
      {"ReduceMean", MapReduce, 1, 2, 7},
      {"ReduceMin", MapReduce, 1, 2, 7},
      {"ReduceProd", MapReduce, 1, 2, 7},
      {"ReduceSum", MapReduce, 1, 2, 7},
      {"ReduceSumSquare", MapReduce, 1, 2, 7},
      {"Relu", MapUnary, 1, 1, 7},
      {"Reshape", MapReshape, 2, 2, 7},
      {"Resize", MapResize, 1, 4, 10},
      {"Round", MapUnary, 1, 1, 11},
      {"ScatterND", MapScatterNd, 3, 3, 11},
      {"Selu", MapAlphaUnary, 1, 1, 7},
      {"Shape", MapShape, 1, 1, 7},
      {"Shrink", MapShrink, 1, 1, 9},
      {"Sigmoid", MapUnary, 1, 1, 7},
      {"Sign", MapUnary, 1, 1, 9},
      {"Sin", MapUnary, 1, 1, 7},
      {"Sinh", MapUnary, 1, 1, 9},
      {"Size", MapSize, 1, 1, 7},
      {"Slice", MapSlice, 1, 5, 7},
      {"Softmax", MapSoftmax, 1, 1, 7},
      {"Softplus", MapUnary, 1, 1, 7},
      {"Softsign", MapUnary, 1, 1, 7},
      {"SpaceToDepth", MapSpaceToDepth, 1, 1, 7},
      {"Split", MapSplit, 1, 2, 7},
      {"Sqrt", MapUnary, 1, 1, 7},
      {"Squeeze", MapSqueeze, 1, 2, 7},
      {"Sub", MapBinary, 2, 2, 7},
      {"Sum", MapVariadic, 1, kAny, 7},
      {"Tan", MapUnary, 1, 1, 7},
      {"Tanh", MapUnary, 1, 1, 7},
      {"ThresholdedRelu", MapAlphaUnary, 1, 1, 10},
      {"Tile", MapTile, 2, 2, 7},
      {"Transpose", MapTranspose, 1, 1, 7},
      {"Unsqueeze", MapUnsqueeze, 1, 2, 7},
      {"Upsample", MapUpsample, 1, 2, 7},
      {"Where", MapWhere, 3, 3, 9},
      {"Xor", MapLogic, 2, 2, 7},
  };
  return kTable;
}

const OperatorEntry* FindOperatorEntry(const std::string& name) {
  const auto& table = Operators();
  const auto found = std::lower_bound(table.begin(), table.end(), name,
                                      [](const OperatorEntry& entry, const std::string& n) { return entry.name < n; });
  return found != table.end() && found->name == name ? &*found : nullptr;
}

Status CheckNodeKind(const ModelNode& node, int64_t opset) {
  if (!node.domain.empty()) {
    return Status::Unsupported("operators of the domain `" + node.domain +
                               "` are not supported; export the model with ONNX's own operators alone");
  }
  if (Among(kQuantised, node.op)) {
    return Status::Unsupported("quantised models are not supported; export the model in float32");
  }
  if (Among(kSubgraphs, node.op)) {
    return Status::Unsupported("control flow (subgraphs) is not supported; export the model for fixed shapes");
  }
  for (const NodeAttribute& attribute : node.attributes) {
    if (attribute.kind == NodeAttribute::Kind::kGraph) {
      return Status::Unsupported("its attribute `" + attribute.name + "` is a subgraph, which is not supported");
    }
  }
  const OperatorEntry* entry = FindOperatorEntry(node.op);
  if (entry == nullptr) return Status::Unsupported("the operator is not supported");
  if (opset < entry->first_opset) {
    return Status::Invalid(fmt::format("the operator is there only since opset {}", entry->first_opset));
  }
  if (node.inputs.size() < entry->least || node.inputs.size() > entry->most) {
    return Status::Invalid(fmt::format("it takes {} inputs, has {}",
                                       entry->most == entry->least ? fmt::format("{}", entry->least)
                                       : entry->most == kAny       ? fmt::format("at least {}", entry->least)
                                                                   : fmt::format("{} to {}", entry->least, entry->most),
                                       node.inputs.size()));
  }
  for (size_t i = 0; i < entry->least; ++i) {
    if (node.inputs[i].empty()) return Status::Invalid(fmt::format("its input {} is left out", i));
  }
  return Status();
}

Status MapNode(NodeContext* c) {
  HONE_RETURN_IF_ERROR(CheckNodeKind(c->node(), c->opset()));
  HONE_RETURN_IF_ERROR(FindOperatorEntry(c->node().op)->map(c));
  return c->AttributeStatus();
}

}  // namespace hone::onnx
