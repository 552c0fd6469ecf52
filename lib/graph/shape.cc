#include "graph/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/suggest.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

using Shape = std::vector<int64_t>;

constexpr int64_t kMaxAttribute = 1 << 20;

Result<Shape> Numbers(const Workload& w, const std::string& name, size_t count, int64_t fallback, int64_t least) {
  Shape values = w.Numbers(name, Shape(count, fallback));
  if (values.size() == 1) values.resize(count, values[0]);  // one stands for all, as in op/
  if (values.size() != count) return Status::Invalid(fmt::format("{}: {} takes {} numbers", w.op, name, count));
  for (int64_t v : values) {
    if (v < least || v > kMaxAttribute)
      return Status::Invalid(fmt::format("{}: {} is out of range: {}", w.op, name, v));
  }
  return values;
}

Status NeedInputs(const Workload& w, size_t count) {
  if (w.inputs.size() == count) return Status();
  return Status::Invalid(fmt::format("{} takes {} inputs before its epilogue, found {}", w.op, count, w.inputs.size()));
}

Status NeedRank(const Workload& w, size_t input, size_t rank) {
  if (w.inputs[input].shape.size() == rank) return Status();
  return Status::Invalid(
      fmt::format("{}: input {} must have {} dimensions, is {}", w.op, input, rank, w.inputs[input].Text()));
}

Result<Shape> Conv2d(const Workload& w) {
  HONE_RETURN_IF_ERROR(NeedInputs(w, 2));
  HONE_RETURN_IF_ERROR(NeedRank(w, 0, 4));
  HONE_RETURN_IF_ERROR(NeedRank(w, 1, 4));
  HONE_ASSIGN_OR_RETURN(Window window, WindowOf(w));
  HONE_ASSIGN_OR_RETURN(Shape groups, Numbers(w, "groups", 1, 1, 1));
  const Shape& data = w.inputs[0].shape;
  const Shape& weight = w.inputs[1].shape;
  if (data[1] % groups[0] != 0 || weight[0] % groups[0] != 0 || weight[1] != data[1] / groups[0]) {
    return Status::Invalid(fmt::format("conv2d: {} channels in {} groups do not fit the weight {}", data[1], groups[0],
                                       w.inputs[1].Text()));
  }
  return Shape{data[0], weight[0], window.out_h, window.out_w};
}

Result<Shape> Dense(const Workload& w) {
  HONE_RETURN_IF_ERROR(NeedInputs(w, 2));
  HONE_RETURN_IF_ERROR(NeedRank(w, 0, 2));
  HONE_RETURN_IF_ERROR(NeedRank(w, 1, 2));
  if (w.inputs[0].shape[1] != w.inputs[1].shape[1]) {
    return Status::Invalid(fmt::format("dense: {} does not fit the weight {}", w.inputs[0].Text(), w.inputs[1].Text()));
  }
  return Shape{w.inputs[0].shape[0], w.inputs[1].shape[0]};
}

Result<Shape> BatchNorm(const Workload& w) {
  HONE_RETURN_IF_ERROR(NeedInputs(w, 5));
  if (w.inputs[0].shape.size() < 2) return Status::Invalid("batch_norm: its input has no channels");
  for (size_t i = 1; i < 5; ++i) {
    if (w.inputs[i].shape != Shape{w.inputs[0].shape[1]}) {
      return Status::Invalid(
          fmt::format("batch_norm: input {} must be f32[{}], is {}", i, w.inputs[0].shape[1], w.inputs[i].Text()));
    }
  }
  const double epsilon = BatchNormEpsilon(w);
  if (!(epsilon >= 0) || std::isinf(epsilon)) {
    return Status::Invalid("batch_norm: its epsilon must be finite and 0 or more");
  }
  return w.inputs[0].shape;
}

Result<Shape> Same(const Workload& w) {
  HONE_RETURN_IF_ERROR(NeedInputs(w, 1));
  return w.inputs[0].shape;
}

Result<Shape> Pad2d(const Workload& w) {
  HONE_RETURN_IF_ERROR(NeedInputs(w, 1));
  HONE_RETURN_IF_ERROR(NeedRank(w, 0, 4));
  HONE_ASSIGN_OR_RETURN(Shape pad, Numbers(w, "pad", 4, 0, 0));
  const Shape& data = w.inputs[0].shape;
  return Shape{data[0], data[1], data[2] + pad[0] + pad[2], data[3] + pad[1] + pad[3]};
}

Result<Shape> Flatten(const Workload& w) {
  HONE_RETURN_IF_ERROR(NeedInputs(w, 1));
  const Shape& shape = w.inputs[0].shape;
  if (shape.size() < 2) return Status::Invalid("flatten: its input has no dimension but the batch");
  return Shape{shape[0], w.inputs[0].Elements() / shape[0]};
}

struct Entry {
  const char* name;
  Result<Shape> (*infer)(const Workload&);
};
// Sorted by name.
constexpr Entry kOperators[] = {
    {"batch_norm", BatchNorm}, {"block", Same},      {"conv2d", Conv2d}, {"dense", Dense},
    {"dropout", Same},         {"flatten", Flatten}, {"pad2d", Pad2d},   {"unblock", Same},
};

}  // namespace

// A chain's, with every seam checked.
static Result<TensorType> ChainOutput(const Workload& workload) {
  std::optional<TensorType> output;
  for (const Workload& part : workload.Parts()) {
    if (part.op != "conv2d" && part.op != "max_pool2d" && part.op != "avg_pool2d") {
      return Status::Unsupported(part.op + " in a chain: only conv2d, max_pool2d and avg_pool2d can be members of one");
    }
    if (output && (part.inputs.empty() || part.inputs[0] != *output)) {
      return Status::Invalid(fmt::format("chain: {} takes {}, but the one before it makes {}", part.op,
                                         part.inputs.empty() ? "nothing" : part.inputs[0].Text(), output->Text()));
    }
    HONE_ASSIGN_OR_RETURN(output, InferOutput(part));
  }
  return *output;
}

double BatchNormEpsilon(const Workload& w) {
  if (w.Find("epsilon") != nullptr) return semantics::Real(w, "epsilon", 1e-5);
  return 1 / semantics::Real(w, "inverse_epsilon", 100000);
}

Result<Window> WindowOf(const Workload& w) {
  Window window;
  const Shape& data = w.inputs[0].shape;
  const Shape kernel = {w.inputs[1].shape[2], w.inputs[1].shape[3]};
  HONE_ASSIGN_OR_RETURN(Shape stride, Numbers(w, "stride", 2, 1, 1));
  HONE_ASSIGN_OR_RETURN(Shape dilation, Numbers(w, "dilation", 2, 1, 1));
  HONE_ASSIGN_OR_RETURN(Shape pad, Numbers(w, "pad", 4, 0, 0));
  window.kernel_h = kernel[0], window.kernel_w = kernel[1];
  window.stride_h = stride[0], window.stride_w = stride[1];
  window.dilation_h = dilation[0], window.dilation_w = dilation[1];
  window.top = pad[0], window.left = pad[1], window.bottom = pad[2], window.right = pad[3];
  const int64_t room_h = data[2] + pad[0] + pad[2] - ((kernel[0] - 1) * dilation[0] + 1);
  const int64_t room_w = data[3] + pad[1] + pad[3] - ((kernel[1] - 1) * dilation[1] + 1);
  if (room_h < 0 || room_w < 0) {
    return Status::Invalid(fmt::format("{}: the window {}x{} does not fit into {} with its padding: there is no output",
                                       w.op, kernel[0], kernel[1], w.inputs[0].Text()));
  }
  window.out_h = room_h / stride[0] + 1;
  window.out_w = room_w / stride[1] + 1;
  return window;
}

std::vector<std::string> KnownOperators() {
  std::vector<std::string> names;
  for (const Entry& entry : kOperators) names.emplace_back(entry.name);
  for (std::string& name : semantics::Names()) names.push_back(std::move(name));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<TensorType> InferOutput(const Workload& workload) {
  if (workload.chain()) return ChainOutput(workload);
  if (semantics::Find(workload.op) != nullptr) return semantics::InferOutput(workload);
  for (const Entry& entry : kOperators) {
    if (workload.op != entry.name) continue;
    if (workload.inputs.empty()) return Status::Invalid(workload.op + " has no input");
    for (const TensorType& input : workload.inputs) {
      for (int64_t extent : input.shape) {
        if (extent < 1) return Status::Invalid(workload.op + ": an empty input: " + input.Text());
      }
    }
    HONE_ASSIGN_OR_RETURN(Shape shape, entry.infer(workload));
    return TensorType{workload.inputs[0].type, std::move(shape)};
  }
  return Status::Unsupported("unknown operator `" + workload.op + "`" + SuggestionText(workload.op, KnownOperators()));
}

}  // namespace hone::graph
