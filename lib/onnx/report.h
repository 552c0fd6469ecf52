// Checks whether a model is supported, without doing anything else: hone-extract --check.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "onnx/import.h"

namespace hone::onnx {

struct SupportReport {
  std::string text;  // a line per operator: supported or not, how often; then whether the model is usable, or why not
  bool usable = false;
};

// The remaining checks and changes of a graph on its way from the model to tuning and building.
using GraphCheck = std::function<Status(graph::Graph*)>;

// The report on the file `path`. Returns an error only if the file cannot be read as a model at all. The report
// includes the result of `further`.
Result<SupportReport> CheckOnnx(const std::string& path, const InputShapes& shapes, const GraphCheck& further);

}  // namespace hone::onnx
