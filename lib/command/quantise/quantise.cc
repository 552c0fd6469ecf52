#include "command/quantise/quantise.h"

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/file.h"
#include "base/log.h"
#include "command/common/load_graph.h"
#include "command/common/tool.h"
#include "command/quantise/calibration.h"
#include "command/quantise/observe.h"
#include "command/quantise/quality.h"
#include "compile/compile.h"
#include "onnx/write_model.h"
#include "plugin/plugin.h"
#include "propose/versions.h"
#include "quantise/grids.h"
#include "quantise/network.h"
#include "session/machine.h"
#include "target/architecture.h"

namespace hone::command {
namespace {

using graph::Graph;
using quantise::Settings;

// A network of floats whose parameters all have values.
struct FloatNetwork {
  Graph original, graph;  // as read; normalised, without layouts
  graph::ParameterValues values;
};

Result<FloatNetwork> LoadFloats(const QuantiseOptions& options) {
  for (const std::string& file : options.plugins) HONE_RETURN_IF_ERROR(plugin::Load(file));
  HONE_ASSIGN_OR_RETURN(Network network,
                        LoadNetwork({options.network, options.inputs, options.parameter_file, options.batch}));
  FloatNetwork floats{.original = network.graph, .graph = std::move(network.graph)};
  HONE_RETURN_IF_ERROR(CheckMemory(floats.graph));
  HONE_RETURN_IF_ERROR(quantise::NormaliseFloats(&floats.graph));
  HONE_ASSIGN_OR_RETURN(floats.values,
                        graph::MakeParameters(floats.graph, network.values ? &*network.values : nullptr));
  quantise::KeepOnlyFile(&floats.graph, &floats.values);
  return floats;
}

Result<Settings> ReadSettings(const QuantiseOptions& options) {
  if (!options.settings.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.settings));
    return quantise::ParseSettings(text, options.settings);
  }
  Settings settings{.percentile = options.percentile, .samples = options.samples};
  settings.per_channel = !options.per_tensor, settings.bias_correction = !options.no_bias_correction;
  settings.keep = options.keep;
  const auto method = quantise::ParseMethod(options.method);
  if (!method.ok()) return method.status().WithContext("--method");
  const auto scheme = quantise::ParseScheme(options.scheme);
  if (!scheme.ok()) return scheme.status().WithContext("--scheme");
  settings.method = *method, settings.scheme = *scheme;
  const std::string problem = quantise::CheckValues(settings);
  return problem.empty() ? Result<Settings>(settings) : Status::Invalid("--" + problem);
}

// Ranges, means and, for methods that need them, histograms of all tensors of the plan.
Result<quantise::AllStatistics> Observe(const FloatNetwork& floats, const quantise::Plan& plan,
                                        const CalibrationInputs& inputs, quantise::Method method,
                                        ObservedNetwork* network) {
  quantise::AllStatistics all;
  for (const std::string& tensor : plan.Observed()) all.emplace(tensor, *floats.graph.FindType(tensor));
  for (const std::vector<TensorData>& input : inputs) {
    HONE_ASSIGN_OR_RETURN(const auto tensors, network->Run(input));
    for (auto& [tensor, statistics] : all) {
      if (statistics.AddValues(tensors.at(tensor).as<float>())) continue;
      return Status::Invalid("{}: `{}` has values that are not finite; the network cannot be quantised with them",
                             floats.graph.name, tensor);
    }
  }
  if (method == quantise::Method::kMax) return all;
  for (const std::vector<TensorData>& input : inputs) {
    HONE_ASSIGN_OR_RETURN(const auto tensors, network->Run(input));
    for (auto& [tensor, statistics] : all) statistics.AddToHistogram(tensors.at(tensor).as<float>());
  }
  return all;
}

// Runs both networks on all inputs, and compares the outputs of integer layers and of the network.
Status Compare(const CalibrationInputs& inputs, const FloatNetwork& floats, const quantise::Plan& plan,
               const quantise::TensorGrids& grids, const std::map<std::string, std::string>& bytes,
               ObservedNetwork* exact, ObservedNetwork* quantised, QuantiseReport* report) {
  std::map<std::string, Difference> differences;
  std::map<std::string, int64_t> clipped, counts;
  Difference outputs;
  for (const std::vector<TensorData>& input : inputs) {
    HONE_ASSIGN_OR_RETURN(const auto wanted, exact->Run(input));
    HONE_ASSIGN_OR_RETURN(const auto found, quantised->Run(input));
    for (const std::string& layer : plan.layers) {
      const auto real = wanted.at(layer).as<float>();
      const auto as_bytes = bytes.find(layer);
      std::vector<double> values = found.at(as_bytes == bytes.end() ? layer : as_bytes->second).Doubles();
      if (as_bytes != bytes.end()) {
        const graph::Grid& grid = grids.at(layer);
        for (double& x : values) x = (x - grid.zeros[0]) * static_cast<double>(grid.scales[0]);
        clipped[layer] += quantise::CountClipped(real, grid);
      }
      counts[layer] += static_cast<int64_t>(real.size());
      Difference& difference = differences[layer];
      for (size_t i = 0; i < values.size(); ++i) difference.Add(values[i], static_cast<double>(real[i]));
    }
    for (const std::string& output : floats.graph.outputs) {
      const auto real = wanted.at(output).as<float>(), other = found.at(output).as<float>();
      for (size_t i = 0; i < real.size(); ++i) outputs.Add(static_cast<double>(other[i]), static_cast<double>(real[i]));
    }
    const std::string& first = floats.graph.outputs[0];
    const auto real = wanted.at(first).as<float>(), other = found.at(first).as<float>();
    const std::vector<int64_t>& shape = wanted.at(first).type.shape;
    if (shape.size() != 2 || shape[1] < 2) continue;  // no scores of classes
    const auto rows = static_cast<size_t>(shape[0]), columns = static_cast<size_t>(shape[1]);
    for (size_t row = 0; row < rows; ++row) {
      const auto place = [&](std::span<const float> values) {
        const auto part = values.subspan(row * columns, columns);
        return std::ranges::max_element(part) - part.begin();
      };
      report->same_class += place(real) == place(other);
      ++report->rows;
    }
  }
  report->decibels = outputs.Decibels(), report->largest_error = outputs.largest();
  for (const std::string& layer : plan.layers) {
    report->nodes.push_back({layer, floats.graph.FindNode(layer)->workload.Text(), differences[layer].Decibels(),
                             static_cast<double>(clipped[layer]) / static_cast<double>(counts[layer])});
  }
  return Status();
}

Status Quantise(const QuantiseOptions& options, QuantiseReport* report) {
  for (const std::string& file : {options.graph, options.parameters, options.report, options.onnx}) {
    if (!file.empty()) HONE_RETURN_IF_ERROR(CheckFolder(DirName(file)));
  }
  HONE_ASSIGN_OR_RETURN(const Settings settings, ReadSettings(options));
  report->settings = settings, report->data = options.data;
  HONE_ASSIGN_OR_RETURN(const Target target, ReadTargetFile(options.target));
  if (target.kind->has_device()) {
    return Status::Unsupported("{}: integers run on CPUs only; quantise for a target of the kind cpu", options.target);
  }
  HONE_RETURN_IF_ERROR(CheckRunsHere(target).WithContext(options.target));
  HONE_ASSIGN_OR_RETURN(FloatNetwork floats, LoadFloats(options));
  HONE_ASSIGN_OR_RETURN(const quantise::Plan plan, quantise::PlanFor(floats.original, floats.graph, settings));
  // Images are plain outside the library, whatever the network's own layout.
  Graph plain = floats.graph;
  plain.layout = Layout::kBlocked;
  CalibrationInputs inputs;
  if (options.data.empty()) {
    LogWarning(
        "{}: no calibration data: seeded inputs are used, so the accuracy means nothing (--data, or `data` in "
        "[quantise])",
        floats.graph.name);
    inputs = SeededCalibration(plain, settings.samples > 0 ? settings.samples : quantise::kSeededSamples);
  } else {
    HONE_ASSIGN_OR_RETURN(inputs, ReadCalibration(options.data, floats.graph, settings.samples));
  }
  HONE_ASSIGN_OR_RETURN(MachineLock machine, session::OpenMachine());
  HONE_RETURN_IF_ERROR(session::TakeMachine(&machine, session::Use::kShared));
  const std::set<std::string> observed = plan.Observed();
  HONE_ASSIGN_OR_RETURN(ObservedNetwork exact,
                        ObservedNetwork::Build(plain, floats.values, {observed.begin(), observed.end()}, target));
  HONE_ASSIGN_OR_RETURN(const auto statistics, Observe(floats, plan, inputs, settings.method, &exact));
  const quantise::TensorGrids grids = quantise::ChooseGrids(plan, statistics, settings);
  HONE_ASSIGN_OR_RETURN(quantise::Pairs pairs,
                        quantise::MakePairs(floats.graph, std::move(floats.values), plan, grids, statistics, settings));
  std::vector<std::string> compared;
  for (const std::string& layer : plan.layers) {
    const auto found = pairs.bytes.find(layer);
    const std::string& tensor = found == pairs.bytes.end() ? layer : found->second;
    if (std::ranges::count(pairs.graph.outputs, tensor) == 0) compared.push_back(tensor);
  }
  {
    quantise::Pairs watched = pairs;
    HONE_RETURN_IF_ERROR(quantise::MakeIntegers(compared, settings.scheme, &watched));
    watched.graph.layout = Layout::kBlocked;
    HONE_ASSIGN_OR_RETURN(ObservedNetwork quantised, ObservedNetwork::Build(watched.graph, watched.values, {}, target));
    HONE_RETURN_IF_ERROR(Compare(inputs, floats, plan, grids, pairs.bytes, &exact, &quantised, report));
  }
  machine.Unlock();
  report->network = floats.graph.name, report->samples = static_cast<int64_t>(inputs.size());
  report->integer_layers = static_cast<int64_t>(plan.layers.size());
  report->layers = std::ranges::count_if(floats.graph.nodes, [](const graph::Node& node) {
    return node.workload.op == "conv2d" || node.workload.op == "conv3d" || node.workload.op == "dense";
  });
  std::string onnx;
  if (!options.onnx.empty()) {
    HONE_ASSIGN_OR_RETURN(onnx, onnx::OnnxModel(pairs.graph, pairs.weights, pairs.values));
  }
  HONE_RETURN_IF_ERROR(quantise::MakeIntegers({}, settings.scheme, &pairs));
  HONE_RETURN_IF_ERROR(StoppedBeforeWriting());
  for (const std::string& file : {options.graph, options.parameters, options.report, options.onnx}) {
    if (!file.empty()) HONE_RETURN_IF_ERROR(MakeDirs(DirName(file)));
  }
  const std::pair<std::string, std::string> files[] = {
      {options.onnx, onnx},
      {options.graph, graph::GraphText(pairs.graph)},
      {options.report, ReportJson(*report)},
      {options.parameters, graph::ParameterFileBytes(pairs.graph, pairs.values)}};
  for (const auto& [file, bytes] : files) {
    if (!file.empty()) HONE_RETURN_IF_ERROR(WriteFileIfChanged(file, bytes).status());
  }
  return WriteOut(ReportText(*report));
}

}  // namespace

std::string QuantiseAbi() {
  return fmt::format("quantise 3\ncodegen {}\nspace {}", compile::CodegenVersion(), propose::SpaceVersionText());
}

int RunQuantise(const QuantiseOptions& options) {
  QuantiseReport report;
  return ExitCodeOf(Quantise(options, &report));
}

}  // namespace hone::command
