// Whether a model is supported, before anything else is done: hone-extract --check.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "onnx/import.h"

namespace hone::onnx {

struct SupportReport {
  std::string
      text;  // a line an operator: supported or not, how often; then whether the model can be used, and if not why
  bool usable = false;
};

// The checks and changes of a graph on its way from the model to what is tuned and built.
using GraphCheck = std::function<Status(graph::Graph*)>;

// The report on the file `path`. An error only for a file that cannot be read as a model at all. `further`: also stands
// in the way.
Result<SupportReport> CheckOnnx(const std::string& path, const InputShapes& shapes, const GraphCheck& further);

}  // namespace hone::onnx
