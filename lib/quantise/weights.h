// The grids of a network's weights, and biases that make up for their rounding.
#pragma once

#include <map>
#include <string>

#include "graph/integers.h"
#include "quantise/pairs.h"
#include "quantise/settings.h"
#include "quantise/statistics.h"

namespace hone::quantise {

// By tensor.
using AllStatistics = std::map<std::string, Statistics>;

// The grid of each group: of the ranges that the method chooses for its tensors, joined.
TensorGrids ChooseGrids(const Plan& plan, const AllStatistics& statistics, const Settings& settings);

// The grids of all layers' weights, by parameter. With bias correction, subtracts from each bias the mean error of its
// sums: the rounding of the weights times the means of the data's channels, as if there were no padding (Nagel et al.,
// "Data-Free Quantization through Weight Equalization and Bias Correction", ICCV 2019). A layer without a bias gets
// one.
graph::WeightGrids ChooseWeights(const Plan& plan, const TensorGrids& grids, const AllStatistics& statistics,
                                 const Settings& settings, graph::Graph* graph, graph::ParameterValues* values);

}  // namespace hone::quantise
