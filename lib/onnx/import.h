// Imports an ONNX model as a graph and the values of its parameters. doc/reference/onnx.md says what is supported.
//
// Node by node, the importer computes shapes from the inputs' shapes. It also computes everything that depends only on
// constants, so the arithmetic of shapes disappears. All other nodes become operators of a graph (graph/graph.h). The
// model's own shape annotations are ignored.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
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

// Whether a model is supported: hone-extract --check.
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
