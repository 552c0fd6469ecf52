// From a network of floats to one of integers, in steps, so that hone-quantise and hone-extract make the same graph:
// the latter without calibration, since the graph does not depend on the grids.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "quantise/pairs.h"
#include "quantise/settings.h"
#include "quantise/weights.h"

namespace hone::quantise {

// Folds and fuses as for building, but leaves out layouts. Returns kUnsupported for an input that is not f32, and
// errors of graph::Normalise.
Status NormaliseFloats(graph::Graph* graph);

// The plan for a graph that NormaliseFloats made of `original`. Returns kNotFound for an unknown name in settings.keep,
// kInvalid if no layer can compute with integers, and errors of MakePlan.
Result<Plan> PlanFor(const graph::Graph& original, const graph::Graph& normalised, const Settings& settings);

// Makes all parameters `file`, and drops those that no node reads, with their values.
void KeepOnlyFile(graph::Graph* graph, graph::ParameterValues* values);

// A network with pairs around layers, whose parameters all have values.
struct Pairs {
  graph::Graph graph;
  graph::ParameterValues values;
  graph::WeightGrids weights;
  std::map<std::string, std::string> bytes;  // of InsertPairs
};

// Inserts the pairs and names the graph "NAME-int8". `values` are those of all parameters. Statistics are used for bias
// correction.
Result<Pairs> MakePairs(graph::Graph graph, graph::ParameterValues values, const Plan& plan, const TensorGrids& grids,
                        const AllStatistics& statistics, const Settings& settings);

// Makes operators of integers, for power2 those that shift. The graph keeps `more` tensors as further outputs.
Status MakeIntegers(const std::vector<std::string>& more, Scheme scheme, Pairs* pairs);

// The graph of integers that hone-quantise makes of this network with any calibration inputs. Errors as above.
Result<graph::Graph> IntegerGraph(graph::Graph graph, const Settings& settings);

}  // namespace hone::quantise
