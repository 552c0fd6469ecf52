#include "library/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/rng.h"
#include "graph/reference.h"
#include "op/shapes.h"
#include "semantics/semantics.h"

namespace hone::library {
namespace {

// File format: "HONEREF2", the key's 32 hex digits, the outputs' doubles, then 32 hex digits of the digest of all
// preceding bytes.
constexpr std::string_view kMagic = "HONEREF2";
constexpr size_t kHex = 32;

std::string Key(const graph::Graph& graph, const graph::ParameterValues* file, uint64_t seed) {
  Hasher hasher;
  hasher.AddField(graph::GraphText(graph));
  hasher.AddInt(seed);
  if (file) {
    for (const auto& [name, values] : *file) {
      hasher.AddField(name);
      hasher.AddField(values.view());
    }
  }
  return hasher.Finish().Hex();
}

std::vector<size_t> Sizes(const graph::Graph& graph) {
  std::vector<size_t> sizes;
  for (const std::string& output : graph.outputs)
    sizes.push_back(static_cast<size_t>(graph.FindNode(output)->output.Elements()));
  return sizes;
}

// False unless the bytes are the complete file of this key.
bool Parse(std::string_view bytes, const std::string& key, const std::vector<size_t>& sizes,
           std::vector<std::vector<double>>* out) {
  size_t total = kMagic.size() + 2 * kHex;
  for (size_t size : sizes) total += size * sizeof(double);
  if (bytes.size() != total || bytes.substr(0, kMagic.size()) != kMagic || bytes.substr(kMagic.size(), kHex) != key)
    return false;
  if (Digest128(bytes.substr(0, total - kHex)).Hex() != bytes.substr(total - kHex)) return false;
  const char* at = bytes.data() + kMagic.size() + kHex;
  out->clear();
  for (size_t size : sizes) {
    out->emplace_back(size);
    std::memcpy(out->back().data(), at, size * sizeof(double));
    at += size * sizeof(double);
  }
  return true;
}

}  // namespace

// Values of a network's input or output in the order in which its caller stores them.
static std::vector<double> OutsideOrder(const graph::Graph& graph, const TensorType& type,
                                        const std::vector<double>& values) {
  return op::StoredOrder(op::MakeOperand("", OperandRole::kData, type, graph::OutsideLayout(graph, type), 1), values);
}

static std::vector<TensorData> LogicalInputs(const graph::Graph& graph, uint64_t seed) {
  std::vector<TensorData> inputs;
  for (const graph::GraphInput& input : graph.inputs) {
    Rng rng(Mix64(seed ^ Mix64(Digest128(input.name).lo)));
    std::vector<double> values(static_cast<size_t>(input.type.Elements()));
    const double most = input.type.type.is_float() ? 1 : 128;
    const double middle = input.type.type == DType::UInt(8) ? 128 : 0;
    for (double& v : values) v = middle + (rng.UniformDouble() * 2 - 1) * most;
    inputs.emplace_back(input.type, values);
  }
  return inputs;
}

std::vector<TensorData> BenchInputs(const graph::Graph& graph, uint64_t seed) {
  std::vector<TensorData> inputs = LogicalInputs(graph, seed);
  for (TensorData& input : inputs) {
    const TensorType type = input.type;
    const std::vector<int64_t> shape = semantics::StoredShape(type.shape, graph::OutsideLayout(graph, type));
    input = TensorData({type.type, shape}, OutsideOrder(graph, type, input.Doubles()));
  }
  return inputs;
}

Result<std::vector<std::vector<double>>> ReferenceOutputs(const graph::Graph& graph, const graph::ParameterValues* file,
                                                          uint64_t seed, int threads, const std::string& path) {
  const std::string key = Key(graph, file, seed);
  std::vector<std::vector<double>> outputs;
  if (auto bytes = ReadFile(path); bytes.ok() && Parse(*bytes, key, Sizes(graph), &outputs)) return outputs;
  HONE_ASSIGN_OR_RETURN(graph::ParameterValues values, graph::MakeParameters(graph, file));
  std::map<std::string, TensorData> inputs;
  std::vector<TensorData> made = LogicalInputs(graph, seed);
  for (size_t i = 0; i < graph.inputs.size(); ++i) inputs[graph.inputs[i].name] = std::move(made[i]);
  HONE_ASSIGN_OR_RETURN(graph::TensorValues tensors, graph::RunReference(graph, values, inputs, threads));
  std::string bytes = std::string(kMagic) + key;
  for (const std::string& name : graph.outputs) {
    outputs.push_back(OutsideOrder(graph, graph.FindNode(name)->output, tensors.at(name)));
    bytes.append(reinterpret_cast<const char*>(outputs.back().data()), outputs.back().size() * sizeof(double));
  }
  bytes += Digest128(bytes).Hex();
  if (Status s = WriteFileAtomic(path, bytes); !s.ok())
    LogWarning("the reference outputs are not kept: " + s.message());
  return outputs;
}

double RelativeError(const std::vector<double>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size() || found.empty()) return std::numeric_limits<double>::infinity();
  double sum = 0, squares = 0, worst = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!std::isfinite(found[i]) || !std::isfinite(expected[i])) return std::numeric_limits<double>::infinity();
    sum += expected[i];
    squares += expected[i] * expected[i];
    worst = std::max(worst, std::abs(found[i] - expected[i]));
  }
  const double n = static_cast<double>(expected.size());
  const double deviation = std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n)));
  // For a constant output, relative to its magnitude.
  const double scale = deviation > 0 ? deviation : std::max(std::abs(sum / n), 1e-30);
  return worst / scale;
}

Status VerifyOutputs(const std::string& where, double rounding, const std::vector<TensorData>& found,
                     const std::vector<std::vector<double>>& expected, double* error) {
  const double tolerance = OutputTolerance(rounding);
  if (found.size() != expected.size()) return Status::Invalid(where + ": has other outputs than its graph");
  *error = 0;
  Status wrong;
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::vector<double> values = found[i].Doubles();
    const double off = RelativeError(values, expected[i]);
    *error = std::max(*error, off);
    const bool one_value = rounding == 0 && !found[i].type.type.is_float();
    if ((one_value ? values == expected[i] : off <= tolerance) || !wrong.ok()) continue;
    if (one_value) {
      const size_t at = static_cast<size_t>(std::ranges::mismatch(values, expected[i]).in1 - values.begin());
      wrong = Status::Corrupt(
          "{}: output {} is wrong: element {} is {}, expected {}; a kernel is wrong: build with --untuned to see "
          "whether "
          "it is a tuned one",
          where, i, at, values[at], expected[i][at]);
      continue;
    }
    wrong = Status::Corrupt(
        "{}: output {} is wrong: off the reference by {:.2g} standard deviations (tolerance {:g}); a kernel is wrong: "
        "build with --untuned to see whether it is a tuned one",
        where, i, off, tolerance);
  }
  return wrong;
}

}  // namespace hone::library
