#include "graph/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/interrupt.h"
#include "graph/shape.h"
#include "semantics/parallel.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

using Values = std::vector<double>;

// out[ow] += w * row[ow * stride], over the ow whose element lies inside the row: no branch in the loop.
void AddRow(double* out, const double* row, double w, int64_t out_w, int64_t in_w, int64_t stride, int64_t offset) {
  const int64_t begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t end = in_w - 1 - offset < 0 ? 0 : std::min(out_w, (in_w - 1 - offset) / stride + 1);
  if (stride == 1) {
    for (int64_t ow = begin; ow < end; ++ow) out[ow] += w * row[ow + offset];
  } else {
    for (int64_t ow = begin; ow < end; ++ow) out[ow] += w * row[ow * stride + offset];
  }
}

void Conv2d(const Node& node, const Values& data, const Values& weight, int threads, Values* out) {
  const Window window = *WindowOf(node.workload);
  const std::vector<int64_t>& in = node.workload.inputs[0].shape;
  const std::vector<int64_t>& shape = node.output.shape;
  const int64_t groups = node.workload.Numbers("groups", {1})[0];
  const int64_t in_group = in[1] / groups, out_group = shape[1] / groups;
  semantics::ParallelFor(shape[0] * shape[1], threads, [&](int64_t plane) {
    const int64_t n = plane / shape[1], oc = plane % shape[1], group = oc / out_group;
    double* result = out->data() + plane * shape[2] * shape[3];
    for (int64_t ic = 0; ic < in_group; ++ic) {
      const double* image = data.data() + (n * in[1] + group * in_group + ic) * in[2] * in[3];
      for (int64_t kh = 0; kh < window.kernel_h; ++kh) {
        for (int64_t kw = 0; kw < window.kernel_w; ++kw) {
          const double w = weight[((oc * in_group + ic) * window.kernel_h + kh) * window.kernel_w + kw];
          for (int64_t oh = 0; oh < shape[2]; ++oh) {
            const int64_t ih = oh * window.stride_h - window.top + kh * window.dilation_h;
            if (ih < 0 || ih >= in[2]) continue;
            AddRow(result + oh * shape[3], image + ih * in[3], w, shape[3], in[3], window.stride_w,
                   kw * window.dilation_w - window.left);
          }
        }
      }
    }
  });
}

void Dense(const Node& node, const Values& data, const Values& weight, Values* out) {
  const int64_t units = node.output.shape[1], depth = node.workload.inputs[0].shape[1];
  for (int64_t n = 0; n < node.output.shape[0]; ++n) {
    for (int64_t u = 0; u < units; ++u) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) sum += data[n * depth + k] * weight[u * depth + k];
      (*out)[n * units + u] = sum;
    }
  }
}

void BatchNorm(const Node& node, const std::vector<const Values*>& x, Values* out) {
  const double epsilon = BatchNormEpsilon(node.workload);
  const int64_t channels = node.output.shape[1];
  const int64_t inner = node.output.Elements() / node.output.shape[0] / channels;
  for (size_t i = 0; i < out->size(); ++i) {
    const size_t c = static_cast<size_t>(static_cast<int64_t>(i) / inner % channels);
    (*out)[i] = ((*x[0])[i] - (*x[3])[c]) / std::sqrt((*x[4])[c] + epsilon) * (*x[1])[c] + (*x[2])[c];
  }
}

void Pad2d(const Node& node, const Values& data, Values* out) {
  const std::vector<int64_t>& in = node.workload.inputs[0].shape;
  std::vector<int64_t> pad = node.workload.Numbers("pad", {0, 0, 0, 0});
  if (pad.size() == 1) pad.resize(4, pad[0]);
  for (int64_t plane = 0; plane < in[0] * in[1]; ++plane) {
    for (int64_t h = 0; h < in[2]; ++h) {
      const int64_t to = (plane * node.output.shape[2] + h + pad[0]) * node.output.shape[3] + pad[1];
      std::copy_n(data.begin() + (plane * in[2] + h) * in[3], in[3], out->begin() + to);
    }
  }
}

void Epilogue(const Node& node, const std::vector<const Values*>& operands, Values* out) {
  size_t next = node.workload.inputs.size();
  for (const EpilogueOp& op : node.workload.epilogue) {
    if (op.kind == EpilogueKind::kBias) {
      const Values& bias = *operands[next++];
      const int64_t inner = node.output.Elements() / node.output.shape[0] / node.output.shape[1];
      for (size_t i = 0; i < out->size(); ++i)
        (*out)[i] += bias[static_cast<size_t>(static_cast<int64_t>(i) / inner) % bias.size()];
    } else if (op.kind == EpilogueKind::kAdd) {
      const Values& other = *operands[next++];
      for (size_t i = 0; i < out->size(); ++i) (*out)[i] += other[i];
    } else {
      const double low = op.kind == EpilogueKind::kClip ? op.low : 0;
      const double high = op.kind == EpilogueKind::kClip    ? op.high
                          : op.kind == EpilogueKind::kRelu6 ? 6
                                                            : std::numeric_limits<double>::infinity();
      for (double& x : *out) x = std::min(std::max(x, low), high);
    }
  }
}

Values Chain(const Node& node, const std::vector<const Values*>& x, int threads) {
  Values value;
  size_t next = 0;
  for (const Workload& part : node.workload.Parts()) {
    std::vector<const Values*> operands;
    if (next > 0) operands.push_back(&value);
    while (operands.size() < OperandCount(part)) operands.push_back(x[next++]);
    value = RunReferenceNode({node.name, part, {}, *InferOutput(part)}, operands, threads);
  }
  return value;
}

}  // namespace

std::vector<double> RunReferenceNode(const Node& node, const std::vector<const std::vector<double>*>& x, int threads) {
  if (node.workload.chain()) return Chain(node, x, threads);
  Values out(static_cast<size_t>(node.output.Elements()));
  const std::string& op = node.workload.op;
  if (semantics::Find(op) != nullptr) {
    out = semantics::Evaluate(node.workload,
                              {x.begin(), x.begin() + static_cast<ptrdiff_t>(node.workload.inputs.size())}, threads);
  } else if (op == "conv2d") {
    Conv2d(node, *x[0], *x[1], threads, &out);
  } else if (op == "dense") {
    Dense(node, *x[0], *x[1], &out);
  } else if (op == "batch_norm") {
    BatchNorm(node, x, &out);
  } else if (op == "pad2d") {
    Pad2d(node, *x[0], &out);
  } else {
    const bool same_values = op == "flatten" || op == "dropout" || op == "block" || op == "unblock";
    HONE_CHECK(same_values);  // else an operator that graph/shape.h knows is missing here
    out = *x[0];              // in the same logical order
  }
  Epilogue(node, x, &out);
  return out;
}

Result<TensorValues> RunReference(const Graph& graph, const ParameterValues& parameters,
                                  const std::map<std::string, std::vector<float>>& inputs, int threads) {
  TensorValues live;
  for (const GraphInput& input : graph.inputs) {
    auto found = inputs.find(input.name);
    if (found == inputs.end()) return Status::Invalid("no values for the input `" + input.name + "`");
    if (static_cast<int64_t>(found->second.size()) != input.type.Elements()) {
      return Status::Invalid(fmt::format("input `{}` has {} values, must have {}", input.name, found->second.size(),
                                         input.type.Elements()));
    }
    live[input.name].assign(found->second.begin(), found->second.end());
  }
  auto reads = CountReads(graph);
  for (const Node& node : graph.nodes) {
    if (Interrupted()) return Status::Interrupted("interrupted while computing the reference outputs");
    std::vector<const Values*> operands;
    for (const std::string& name : node.inputs) {
      auto found = live.find(name);
      if (found == live.end()) {
        auto parameter = parameters.find(name);
        if (parameter == parameters.end()) return Status::NotFound("no values for the parameter `" + name + "`");
        found = live.emplace(name, Values(parameter->second.begin(), parameter->second.end())).first;
      }
      operands.push_back(&found->second);
    }
    Values out = RunReferenceNode(node, operands, threads);
    for (const std::string& name : node.inputs) {
      if (--reads[name] == 0) live.erase(name);
    }
    live[node.name] = std::move(out);
  }
  TensorValues outputs;
  for (const std::string& name : graph.outputs) outputs[name] = std::move(live.at(name));
  return outputs;
}

}  // namespace hone::graph
