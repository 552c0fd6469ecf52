// The inputs with which a network is calibrated: from files, or seeded.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "task/tensor_data.h"

namespace hone::command {

// For each run of the network, a tensor for each of its inputs.
using CalibrationInputs = std::vector<std::vector<TensorData>>;

// Reads inputs of the graph from `path` (quantise/samples.h has the formats). For a network with one input: a file, or
// a folder, whose files are read in the order of their names (names that begin with a dot are skipped). For one with
// several inputs: a folder with a file NAME, NAME.npy, NAME.bin or NAME.raw for each.
// `samples`: how many to use; 0: all. Returns kInvalid or kNotFound, with the file: missing, cut short, another shape,
// values that are not finite, too few inputs, or an input whose values are all the same.
Result<CalibrationInputs> ReadCalibration(const std::string& path, const graph::Graph& graph, int64_t samples);

// Seeded inputs, different ones for each sample (library::BenchInputs).
CalibrationInputs SeededCalibration(const graph::Graph& graph, int64_t samples);

}  // namespace hone::command
