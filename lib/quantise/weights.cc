#include "quantise/weights.h"

#include <algorithm>
#include <cmath>

#include "quantise/grids.h"

namespace hone::quantise {
namespace {

// The mean of the errors that rounding the weights causes, for each channel of the output.
std::vector<double> MeanErrors(const TensorData& weight, const graph::Grid& grid, const std::vector<double>& means) {
  const auto values = weight.as<float>();
  const auto channels = static_cast<size_t>(weight.type.shape[0]), inputs = static_cast<size_t>(weight.type.shape[1]);
  const size_t window = values.size() / channels / inputs, groups = means.size() / inputs;
  std::vector<double> errors(channels);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t channel = i / window / inputs, input = i / window % inputs;
    const auto value = static_cast<double>(values[i]);
    errors[channel] += (OnGrid(value, grid, channel) - value) * means[channel / (channels / groups) * inputs + input];
  }
  return errors;
}

std::string FreshName(std::string name, const graph::Graph& graph) {
  while (graph.FindType(name) != nullptr) name += "_";
  return name;
}

// Gives the layer a bias of its own with these values, whether it has one or not.
void SetBias(const std::vector<double>& bias, graph::Node* node, graph::Graph* graph, graph::ParameterValues* values) {
  const TensorType type{DType::Float(32), {static_cast<int64_t>(bias.size())}};
  const std::string name = FreshName(node->name + ".corrected", *graph);
  if (node->workload.HasEpilogue(EpilogueKind::kBias)) {
    node->inputs[2] = name;
  } else {
    node->workload.epilogue.insert(node->workload.epilogue.begin(), {.kind = EpilogueKind::kBias});
    node->inputs.insert(node->inputs.begin() + 2, name);
  }
  graph->parameters.push_back({name, type, {.kind = graph::InitKind::kFile}});
  values->emplace(name, TensorData(type, bias));
}

}  // namespace

TensorGrids ChooseGrids(const Plan& plan, const AllStatistics& statistics, const Settings& settings) {
  TensorGrids grids;
  for (const auto& group : plan.groups) {
    Range range;
    for (const std::string& tensor : group) {
      const Statistics& seen = statistics.at(tensor);
      const float limit = ChooseLimit(seen, settings.method, settings.percentile);
      range = Joined(range, {std::max(seen.least(), -limit), std::min(seen.most(), limit)});
    }
    for (const std::string& tensor : group) grids[tensor] = ActivationGrid(range, settings.scheme);
  }
  return grids;
}

graph::WeightGrids ChooseWeights(const Plan& plan, const TensorGrids& grids, const AllStatistics& statistics,
                                 const Settings& settings, graph::Graph* graph, graph::ParameterValues* values) {
  graph::WeightGrids weights;
  for (const std::string& layer : plan.layers) {
    graph::Node& node = *std::ranges::find(graph->nodes, layer, &graph::Node::name);
    const std::string& weight = node.inputs[1];
    const bool biased = node.workload.HasEpilogue(EpilogueKind::kBias);
    std::vector<double> bias = biased ? values->at(node.inputs[2]).Doubles() : std::vector<double>();
    const auto output = grids.find(node.name);
    const float output_scale = output == grids.end() ? 0 : output->second.scales[0];
    const graph::Grid& grid = weights[weight] =
        WeightGrid(values->at(weight), bias, grids.at(node.inputs[0]).scales[0], output_scale, settings);
    if (!settings.bias_correction) continue;
    const std::vector<double> errors = MeanErrors(values->at(weight), grid, statistics.at(node.inputs[0]).Means());
    bias.resize(errors.size());
    for (size_t c = 0; c < bias.size(); ++c) bias[c] -= errors[c];
    SetBias(bias, &node, graph, values);
  }
  return weights;
}

}  // namespace hone::quantise
