#include "quantise/network.h"

#include "graph/normalise.h"
#include "quantise/grids.h"

namespace hone::quantise {

Status NormaliseFloats(graph::Graph* graph) {
  for (const graph::GraphInput& input : graph->inputs) {
    if (input.type.type == DType::Float(32)) continue;
    return Status::Unsupported("input `{}` is {}; only a network of floats can be quantised", input.name,
                               input.type.Text());
  }
  const Layout layout = graph->layout;
  HONE_RETURN_IF_ERROR(graph::Normalise(graph, Layout::kPlain));
  HONE_RETURN_IF_ERROR(graph::SetGraphLayout(layout, graph));  // forgets `layout=plain`
  graph::DropIdentity(graph);
  return graph::CheckGraph(graph);
}

Result<Plan> PlanFor(const graph::Graph& original, const graph::Graph& normalised, const Settings& settings) {
  std::set<std::string> keep;
  for (const std::string& name : settings.keep) {
    HONE_ASSIGN_OR_RETURN(const std::string node, FindKept(name, original, normalised));
    keep.insert(node);
  }
  HONE_ASSIGN_OR_RETURN(Plan plan, MakePlan(normalised, keep));
  if (!plan.empty()) return plan;
  return Status::Invalid("{}: no convolution or dense layer can compute with integers", original.name);
}

void KeepOnlyFile(graph::Graph* graph, graph::ParameterValues* values) {
  for (graph::Parameter& p : graph->parameters) p.init = {.kind = graph::InitKind::kFile};
  graph::DropDeadCode(graph);
  graph::KeepReadParameters(*graph, values);
}

Result<Pairs> MakePairs(graph::Graph graph, graph::ParameterValues values, const Plan& plan, const TensorGrids& grids,
                        const AllStatistics& statistics, const Settings& settings) {
  Pairs pairs{std::move(graph), std::move(values), {}, {}};
  pairs.weights = ChooseWeights(plan, grids, statistics, settings, &pairs.graph, &pairs.values);
  pairs.bytes = InsertPairs(plan, grids, &pairs.graph);
  pairs.graph.name += "-int8";
  for (const graph::Parameter& p : pairs.graph.parameters) {
    if (p.init.kind == graph::InitKind::kValues) pairs.values.try_emplace(p.name, p.type, p.init.values);
  }
  HONE_RETURN_IF_ERROR(graph::CheckGraph(&pairs.graph));
  return pairs;
}

Status MakeIntegers(const std::vector<std::string>& more, Scheme scheme, Pairs* pairs) {
  pairs->graph.outputs.insert(pairs->graph.outputs.end(), more.begin(), more.end());
  const auto rescaling = scheme == Scheme::kPower2 ? graph::Rescaling::kShift : graph::Rescaling::kMultiply;
  HONE_RETURN_IF_ERROR(
      graph::UseIntegers(pairs->weights, graph::SameGrids::kByName, &pairs->graph, &pairs->values, rescaling));
  KeepOnlyFile(&pairs->graph, &pairs->values);
  return graph::CheckGraph(&pairs->graph);
}

Result<graph::Graph> IntegerGraph(graph::Graph graph, const Settings& settings) {
  const graph::Graph original = graph;
  HONE_RETURN_IF_ERROR(NormaliseFloats(&graph));
  HONE_ASSIGN_OR_RETURN(const Plan plan, PlanFor(original, graph, settings));
  graph::ParameterValues values;
  KeepOnlyFile(&graph, &values);
  for (const graph::Parameter& p : graph.parameters) values.emplace(p.name, p.type);  // zeros
  AllStatistics statistics;
  for (const std::string& tensor : plan.Observed()) statistics.emplace(tensor, *graph.FindType(tensor));
  TensorGrids grids;
  for (const auto& group : plan.groups) {
    for (const std::string& tensor : group) grids[tensor] = ActivationGrid({0, 1}, settings.scheme);
  }
  HONE_ASSIGN_OR_RETURN(Pairs pairs, MakePairs(std::move(graph), std::move(values), plan, grids, statistics, settings));
  HONE_RETURN_IF_ERROR(MakeIntegers({}, settings.scheme, &pairs));
  return std::move(pairs.graph);
}

}  // namespace hone::quantise
