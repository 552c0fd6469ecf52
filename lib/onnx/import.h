// Imports an ONNX model as a graph and the values of its parameters. doc/reference/onnx.md says what is supported.
//
// Node by node, the importer computes shapes from the inputs' shapes. It also computes everything that depends only on
// constants, so the arithmetic of shapes disappears. All other nodes become operators of a graph (graph/graph.h). The
// model's own shape annotations are ignored.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/parameters.h"
#include "onnx/model.h"
#include "onnx/tensor.h"

namespace hone::onnx {

using InputShapes = std::map<std::string, Shape>;  // by the input's name

inline constexpr int64_t kFirstOpset = 7, kLastOpset = 21;

// Returns kUnsupported for an opset outside the supported range.
Status CheckVersions(const Model& model);

// "node `conv1` (Conv, opset 13)", for all error messages.
std::string NodeText(const ModelNode& node, const Model& model);

// Parses `x=1,3,224,224` of each --input flag. Returns kInvalid for another form, an extent below 1 or a repeated name.
Result<InputShapes> ParseInputShapes(const std::vector<std::string>& flags);

struct ImportOptions {
  InputShapes shapes;                       // of inputs, replacing those in the model
  std::map<std::string, Tensor> constants;  // values for inputs that should be constant
  int64_t fold_limit = kMaxFoldedElements;  // total number of elements that may be computed from constants
  bool constant_outputs = false;            // if false, an output that depends on no input is an error
};

struct ImportedModel {
  graph::Graph graph;  // checked; all its parameters are of kind kFile
  graph::ParameterValues values;
  std::vector<std::string> external = {};          // for ReadOnnx: other files read, from the model's folder
  std::map<std::string, Tensor> constant_outputs;  // outputs that are not in the graph
};

// Returns kInvalid or kUnsupported in one line; if a node is at fault, the line names it with its operator and opset.
// `name` is that of the graph; characters not in [A-Za-z0-9_.-] become '_'.
Result<ImportedModel> Import(const Model& model, const std::string& name, const ImportOptions& options);

// Reads the file `path` with its external data; names the graph after the file. Errors start with `path`.
Result<ImportedModel> ReadOnnx(const std::string& path, const InputShapes& shapes);

bool IsOnnxFile(const std::string& path);  // by its name: *.onnx

}  // namespace hone::onnx
