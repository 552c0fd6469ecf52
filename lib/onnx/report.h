// What of a model is supported, before anything else is done: hone-extract --check.
#pragma once

#include <string>

#include "base/result.h"
#include "onnx/import.h"

namespace hone::onnx {

struct SupportReport {
  std::string
      text;  // a line an operator: supported or not, how often; then whether the model can be used, and if not why
  bool usable = false;
};

// Of the file `path`. An error only for a file that cannot be read as a model at all.
Result<SupportReport> CheckOnnx(const std::string& path, const InputShapes& shapes);

}  // namespace hone::onnx
