// An ONNX model as a graph and the values of its parameters. doc/reference/onnx.md says what is supported and how.
//
// Node by node, the importer computes shapes from the inputs' shapes. It also computes everything that depends only on
// constants, so the arithmetic of shapes disappears. Every other node becomes operators of a graph (graph/graph.h). A
// model's own notes on shapes are ignored.
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

// kUnsupported for an opset before the first or behind the last.
Status CheckVersions(const Model& model);

// "node `conv1` (Conv, opset 13)", as all errors have it.
std::string NodeText(const ModelNode& node, const Model& model);

// `x=1,3,224,224` of each --input flag. kInvalid for another form, an extent below 1, a name that stands twice.
Result<InputShapes> ParseInputShapes(const std::vector<std::string>& flags);

struct ImportOptions {
  InputShapes shapes;                       // of inputs, instead of what the model says of them
  std::map<std::string, Tensor> constants;  // inputs that are these constants
  int64_t fold_limit = kMaxFoldedElements;  // elements that are computed from constants, together
  bool constant_outputs = false;            // else an output that no input reaches is an error
};

struct ImportedModel {
  graph::Graph graph;  // checked; all its parameters are of kind kFile
  graph::ParameterValues values;
  std::vector<std::string> external = {};          // of ReadOnnx: files that were read besides, from the model's folder
  std::map<std::string, Tensor> constant_outputs;  // left out of the graph's
};

// kInvalid or kUnsupported, in one line, which names the node, its operator and the opset where a node is at fault.
// `name`: of the graph; characters not in [A-Za-z0-9_.-] become '_'.
Result<ImportedModel> Import(const Model& model, const std::string& name, const ImportOptions& options);

// The file `path` with its external data; the graph is named after the file. Errors start with `path`.
Result<ImportedModel> ReadOnnx(const std::string& path, const InputShapes& shapes);

bool IsOnnxFile(const std::string& path);  // by its name: *.onnx

}  // namespace hone::onnx
