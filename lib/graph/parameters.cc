#include "graph/parameters.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "base/hash.h"
#include "base/rng.h"

namespace hone::graph {
namespace {

TensorData Uniform(const Graph& graph, const Parameter& p, double low, double high) {
  Rng rng(Mix64(graph.seed ^ Mix64(Digest128(p.name).lo)));
  std::vector<double> values(static_cast<size_t>(p.type.Elements()));
  for (double& v : values) v = low + (high - low) * rng.UniformDouble();
  return TensorData(p.type, values);
}

// gamma / sqrt(variance + epsilon), a channel each.
std::vector<double> Scales(const Parameter& p, const TensorData& gamma, const TensorData& variance) {
  std::vector<double> scales = gamma.Doubles();
  const std::vector<double> variances = variance.Doubles();
  for (size_t c = 0; c < scales.size(); ++c) scales[c] /= std::sqrt(variances[c] + p.init.epsilon);
  return scales;
}

TensorData FoldWeight(const Parameter& p, const ParameterValues& values) {
  std::vector<double> weight = values.at(p.init.from[0]).Doubles();
  const std::vector<double> scales = Scales(p, values.at(p.init.from[1]), values.at(p.init.from[2]));
  const size_t inner = weight.size() / scales.size();
  for (size_t i = 0; i < weight.size(); ++i) weight[i] *= scales[i / inner];
  return TensorData(p.type, weight);
}

TensorData FoldTransposed(const Parameter& p, const ParameterValues& values) {
  std::vector<double> weight = values.at(p.init.from[0]).Doubles();
  const std::vector<double> scales = Scales(p, values.at(p.init.from[1]), values.at(p.init.from[2]));
  // Each group of rows (input channels) has output channels of its own.
  const auto rows = static_cast<size_t>(p.type.shape[0]), each = static_cast<size_t>(p.type.shape[1]);
  const size_t in_group = rows / (scales.size() / each), inner = weight.size() / rows / each;
  for (size_t i = 0; i < weight.size(); ++i) {
    const size_t row = i / inner / each, c = row / in_group * each + i / inner % each;
    weight[i] *= scales[c];
  }
  return TensorData(p.type, weight);
}

TensorData FoldBias(const Parameter& p, const ParameterValues& values) {
  const auto source = [&](size_t i) { return values.at(p.init.from[i]).Doubles(); };
  const std::vector<double> scales = Scales(p, values.at(p.init.from[0]), values.at(p.init.from[3]));
  const std::vector<double> beta = source(1), mean = source(2);
  std::vector<double> folded = p.init.from.size() > 4 ? source(4) : std::vector<double>(scales.size(), 0.0);
  for (size_t c = 0; c < folded.size(); ++c) folded[c] = beta[c] + (folded[c] - mean[c]) * scales[c];
  return TensorData(p.type, folded);
}

}  // namespace

Result<ParameterValues> MakeParameters(const Graph& graph, const ParameterValues* file) {
  ParameterValues values;
  for (const Parameter& p : graph.parameters) {
    TensorData& out = values[p.name];
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
        out = TensorData(p.type, std::vector<double>(static_cast<size_t>(p.type.Elements()), p.init.low));
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
          return Status::NotFound(fmt::format(
              "parameter `{}` of {} comes from a parameter file; pass one with --parameter-file", p.name, graph.name));
        }
        auto found = file->find(p.name);
        if (found == file->end()) return Status::NotFound("the parameter file has no `" + p.name + "`");
        if (found->second.type.type != p.type.type || found->second.Elements() != p.type.Elements()) {
          return Status::Invalid(fmt::format("parameter `{}`: the file has {}, the graph says {}", p.name,
                                             found->second.type.Text(), p.type.Text()));
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
