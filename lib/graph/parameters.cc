#include "graph/parameters.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "base/hash.h"
#include "base/rng.h"

namespace hone::graph {
namespace {

std::vector<float> Uniform(const Graph& graph, const Parameter& p, double low, double high) {
  Rng rng(Mix64(graph.seed ^ Mix64(Digest128(p.name).lo)));
  std::vector<float> values(static_cast<size_t>(p.type.Elements()));
  for (float& v : values) v = static_cast<float>(low + (high - low) * rng.UniformDouble());
  return values;
}

std::vector<float> FoldWeight(const Parameter& p, const ParameterValues& values) {
  const std::vector<float>& weight = values.at(p.init.from[0]);
  const std::vector<float>& gamma = values.at(p.init.from[1]);
  const std::vector<float>& variance = values.at(p.init.from[2]);
  std::vector<float> folded(weight.size());
  const size_t inner = weight.size() / gamma.size();
  for (size_t c = 0; c < gamma.size(); ++c) {
    const double scale = gamma[c] / std::sqrt(variance[c] + p.init.epsilon);
    for (size_t i = 0; i < inner; ++i) folded[c * inner + i] = static_cast<float>(weight[c * inner + i] * scale);
  }
  return folded;
}

std::vector<float> FoldTransposed(const Parameter& p, const ParameterValues& values) {
  const std::vector<float>& weight = values.at(p.init.from[0]);
  const std::vector<float>& gamma = values.at(p.init.from[1]);
  const std::vector<float>& variance = values.at(p.init.from[2]);
  // Each group of rows (input channels) has output channels of its own.
  const auto rows = static_cast<size_t>(p.type.shape[0]), each = static_cast<size_t>(p.type.shape[1]);
  const size_t in_group = rows / (gamma.size() / each), inner = weight.size() / rows / each;
  std::vector<float> folded(weight.size());
  for (size_t i = 0; i < folded.size(); ++i) {
    const size_t row = i / inner / each, c = row / in_group * each + i / inner % each;
    folded[i] = static_cast<float>(weight[i] * (gamma[c] / std::sqrt(variance[c] + p.init.epsilon)));
  }
  return folded;
}

std::vector<float> FoldBias(const Parameter& p, const ParameterValues& values) {
  const std::vector<float>& gamma = values.at(p.init.from[0]);
  const std::vector<float>& beta = values.at(p.init.from[1]);
  const std::vector<float>& mean = values.at(p.init.from[2]);
  const std::vector<float>& variance = values.at(p.init.from[3]);
  const std::vector<float>* bias = p.init.from.size() > 4 ? &values.at(p.init.from[4]) : nullptr;
  std::vector<float> folded(gamma.size());
  for (size_t c = 0; c < gamma.size(); ++c) {
    const double scale = gamma[c] / std::sqrt(variance[c] + p.init.epsilon);
    folded[c] = static_cast<float>(beta[c] + ((bias ? (*bias)[c] : 0.0) - mean[c]) * scale);
  }
  return folded;
}

}  // namespace

Result<ParameterValues> MakeParameters(const Graph& graph, const ParameterValues* file) {
  ParameterValues values;
  for (const Parameter& p : graph.parameters) {
    std::vector<float>& out = values[p.name];
    switch (p.init.kind) {
      case InitKind::kHe: {
        const double bound = std::sqrt(6.0 / static_cast<double>(p.init.fan_in));
        out = Uniform(graph, p, -bound, bound);
        break;
      }
      case InitKind::kUniform:
        out = Uniform(graph, p, p.init.low, p.init.high);
        break;
      case InitKind::kConstant:
        out.assign(static_cast<size_t>(p.type.Elements()), static_cast<float>(p.init.low));
        break;
      case InitKind::kFoldWeight:
        out = FoldWeight(p, values);
        break;
      case InitKind::kFoldBias:
        out = FoldBias(p, values);
        break;
      case InitKind::kFoldTransposed:
        out = FoldTransposed(p, values);
        break;
      case InitKind::kFile: {
        if (file == nullptr) {
          return Status::NotFound(
              fmt::format("parameter `{}` of {} comes from a parameter file, but none was given", p.name, graph.name));
        }
        auto found = file->find(p.name);
        if (found == file->end()) return Status::NotFound("the parameter file has no `" + p.name + "`");
        if (static_cast<int64_t>(found->second.size()) != p.type.Elements()) {
          return Status::Invalid(fmt::format("parameter `{}`: the file has {} values, the graph says {}", p.name,
                                             found->second.size(), p.type.Text()));
        }
        out = found->second;
        break;
      }
    }
  }
  return values;
}

void KeepReadParameters(const Graph& graph, ParameterValues* values) {
  const auto reads = CountReads(graph);
  std::erase_if(*values, [&](const auto& item) { return reads.count(item.first) == 0; });
}

}  // namespace hone::graph
