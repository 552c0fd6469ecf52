// Graph: a network as nodes over named tensors. doc/reference/graph.md has the file format and the list of operators.
//
// A node is a workload (task/workload.h) and the names of its operands in the order of semantics::OperandTypes. It has
// one output, a tensor with the node's name. Nodes stand in an order in which they can run. Shapes are logical (NCHW,
// OIHW), whatever a target stores.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "task/operand.h"
#include "task/tensor_data.h"
#include "task/workload.h"

namespace hone::graph {

// The source of a parameter's values. DO NOT CHANGE what a kind computes: graph files name it.
enum class InitKind {
  kHe,          // uniform in +-sqrt(6 / fan_in), variance 2 / fan_in (He et al., 2015)
  kUniform,     // uniform in [low, high)
  kConstant,    // `low` everywhere
  kFile,        // read by name from the graph's parameter file (ParseParameterFile)
  kFoldWeight,  // {weight, gamma, variance}: weight * gamma / sqrt(variance + epsilon), by output channel (axis 0)
  kFoldBias,    // {gamma, beta, mean, variance[, bias]}: beta + (bias - mean) * gamma / sqrt(variance + epsilon)
  // Like kFoldWeight, for a transposed convolution: weight [in, channels / groups, ..], gamma and variance for all
  // channels.
  kFoldTransposed,
  kSlice,   // {source}: the part that begins at `begin`, with one index for each axis
  kValues,  // `values`, row-major, rounded to the parameter's type
};
// The names in graph files.
inline const std::vector<std::pair<InitKind, const char*>> kInitKindNames = {
    {InitKind::kHe, "he"},
    {InitKind::kUniform, "uniform"},
    {InitKind::kConstant, "constant"},
    {InitKind::kFile, "file"},
    {InitKind::kFoldWeight, "fold_weight"},
    {InitKind::kFoldBias, "fold_bias"},
    {InitKind::kFoldTransposed, "fold_transposed"},
    {InitKind::kSlice, "slice"},
    {InitKind::kValues, "values"}};

struct Initialiser {
  InitKind kind = InitKind::kConstant;
  double low = 0, high = 0;       // kUniform; kConstant: low
  int64_t fan_in = 1;             // kHe
  std::vector<std::string> from;  // kFold*, kSlice: parameters that precede this one
  double epsilon = 0;             // kFold*
  std::vector<int64_t> begin;     // kSlice
  std::vector<double> values;     // kValues
  bool operator==(const Initialiser&) const = default;
};

struct Parameter {
  std::string name;
  TensorType type;
  Initialiser init;
  bool operator==(const Parameter&) const = default;
};

struct GraphInput {
  std::string name;
  TensorType type;
  bool operator==(const GraphInput&) const = default;
};

struct Node {
  std::string name;  // also its output tensor's name
  Workload workload;
  std::vector<std::string> inputs;
  TensorType output;
  bool operator==(const Node&) const = default;
};

// A plugin (plugin/plugin.h) that defines operators of a graph.
struct GraphPlugin {
  std::string file;
  std::string digest;  // of its content when the graph was made, so that another plugin gives another graph file
  bool operator==(const GraphPlugin&) const = default;
};

struct Graph {
  std::string name;   // characters from [A-Za-z0-9_.-]
  uint64_t seed = 1;  // for all seeded parameters
  std::vector<GraphInput> inputs;
  std::vector<std::string> outputs;  // names of tensors
  std::vector<Parameter> parameters;
  std::vector<Node> nodes;
  std::vector<GraphPlugin> plugins;
  // How kernels store tensors of four and five axes: AssignLayout. kChannelsLast: inputs and outputs as well, which are
  // plain otherwise.
  Layout layout = Layout::kBlocked;

  const Parameter* FindParameter(const std::string& name) const;
  const Node* FindNode(const std::string& name) const;
  const GraphInput* FindInput(const std::string& name) const;
  // The type of an input, a parameter or a node's output. Null if the name is unknown.
  const TensorType* FindType(const std::string& name) const;
  bool operator==(const Graph&) const = default;
};

// Orders `roots` and everything that they need: needs[i] lists what item i needs, and each item follows its needs.
// Roots come as early as possible. Returns kInvalid with the `name` of each item of a cycle.
Result<std::vector<size_t>> OrderByNeeds(const std::vector<std::vector<size_t>>& needs,
                                         const std::vector<size_t>& roots,
                                         const std::function<std::string(size_t)>& name);

// Sorts the nodes into an order in which they can run; an order that can run already is kept. kInvalid names the nodes
// of a cycle.
Status SortNodes(Graph* graph);

// Checks names, tensors, node order, operators, operand counts, shapes and parameter recipes, and fills in each node's
// output type. kInvalid names the node or tensor and the violated rule.
Status CheckGraph(Graph* graph);

// How the caller stores an input or output of this type.
Layout OutsideLayout(const Graph& graph, const TensorType& type);

// The number of readers of each tensor: nodes, plus one for each time it is a graph output.
std::map<std::string, int> CountReads(const Graph& graph);

// The text form of a graph: nets/NET.graph.json. doc/reference/graph.md describes the format.
// Version 1 is written unless the graph has element types or values that it lacks.
inline constexpr int kGraphVersion = 2;

// Equal graphs give equal bytes; ends with a newline.
std::string GraphText(const Graph& graph);

// Loads a plugin that a graph names, so that its operators are known: plugin::LoadNamed.
using LoadPlugin = Status (*)(const std::string& file, const std::string& digest);

// Parses and checks (CheckGraph). Returns kInvalid or kUnsupported (newer version, unknown operator, plugins but no
// `load`) with `path` and the place.
Result<Graph> ParseGraph(std::string_view text, const std::string& path, LoadPlugin load = nullptr);
Result<Graph> ReadGraph(const std::string& path, LoadPlugin load);

// Values by parameter name, computed from recipes or read from a file, with the parameter's type and logical shape.
using ParameterValues = std::map<std::string, TensorData>;

// The values of all parameters of `graph`. `file` holds values of kind kFile, null if no parameter has it; if it lacks
// one, or has it with another type, returns kNotFound or kInvalid with the name. A seeded value depends only on the
// graph's seed, the parameter's name and the index: it is the same on every platform.
Result<ParameterValues> MakeParameters(const Graph& graph, const ParameterValues* file);

// Drops values that no node reads (such as sources of folded parameters) to save memory.
void KeepReadParameters(const Graph& graph, ParameterValues* values);

// The parameter file of a graph: named tensors in a binary format (doc/reference/graph.md). It holds the values of
// imported models, and values for other engines. Little endian:
//   "HONEGPAR"  u32 version = 1  u32 count
//   count times: u32 name length, name, u32 dimensions, i64 extents.., values.. (f32, row-major)
// In version 2, written if a tensor is not f32, a u32 length and the text of the element type follow the name.
//   u64: the low half of Digest128 of everything before it
// Contains the parameters that nodes of `graph` read, in the graph's order. REQUIRES: values has them.
std::string ParameterFileBytes(const Graph& graph, const ParameterValues& values);

// Returns kCorrupt (truncated, damaged), kUnsupported (newer version) or kInvalid (another format), with `path`.
Result<ParameterValues> ParseParameterFile(std::string_view bytes, const std::string& path);

}  // namespace hone::graph
