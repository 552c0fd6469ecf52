#include "backend_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/file.h"
#include "graph/normalise.h"
#include "graph/reference.h"
#include "library/build.h"
#include "library/loaded_network.h"
#include "onnx/builder.h"
#include "onnx/import.h"
#include "onnx/read_model.h"
#include "runtime/host/buffer.h"

namespace hone::onnx {
namespace {

// The tolerances of ONNX's own runner.
constexpr double kRelative = 1e-3, kAbsolute = 1e-7;

// Release 1.16 expects averages over windows beyond the padding (ceil_mode) to be divided by the elements there as
// well; since 1.17 the same case expects Hone's result.
// It also expects products of int8 to wrap around; later releases clip them, as their text says.
constexpr const char* kWrongCases[] = {"test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True",
                                       "test_qlinearmatmul_2D_int8_float16", "test_qlinearmatmul_2D_int8_float32",
                                       "test_qlinearmatmul_3D_int8_float16", "test_qlinearmatmul_3D_int8_float32"};

struct Data {
  std::vector<Tensor> inputs, outputs;
};

Result<Data> ReadData(const std::string& dir) {
  Data data;
  for (auto [prefix, tensors] : {std::pair("input_", &data.inputs), std::pair("output_", &data.outputs)}) {
    for (int i = 0;; ++i) {
      const std::string path = JoinPath(dir, fmt::format("test_data_set_0/{}{}.pb", prefix, i));
      if (!Exists(path)) break;
      HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
      HONE_ASSIGN_OR_RETURN(Tensor tensor, ParseTensor(bytes, path));
      tensors->push_back(std::move(tensor));
    }
  }
  return data;
}

using Values = std::map<std::string, TensorData>;

Result<Values> RunByReference(ImportedModel model, const Values& inputs) {
  HONE_RETURN_IF_ERROR(graph::Normalise(&model.graph));
  HONE_ASSIGN_OR_RETURN(const auto parameters, graph::MakeParameters(model.graph, &model.values));
  HONE_ASSIGN_OR_RETURN(const auto outputs, graph::RunReference(model.graph, parameters, inputs, 1));
  Values result;
  for (const auto& [name, values] : outputs) result[name] = std::vector<float>(values.begin(), values.end());
  return result;
}

// Whether kernels compute with inputs of this type: floats, and bytes of quantised models.
bool IsInput(const Model& model, ElementType type) {
  return type == ElementType::kFloat ||
         (KernelType(type) && std::ranges::any_of(model.nodes, [](const ModelNode& node) {
            return node.op.find("Linear") != std::string::npos || node.op.find("Integer") != std::string::npos ||
                   node.op == "QGemm";
          }));
}

Result<Values> RunLibrary(ImportedModel model, const Values& inputs) {
  library::BuildInput build;
  build.graph = model.graph;
  build.file = &model.values;
  HONE_ASSIGN_OR_RETURN(build.target, HostTarget());
  build.target.threads = 1;
  build.name = "case";
  HONE_ASSIGN_OR_RETURN(const library::BuiltLibrary built, library::BuildLibrary(std::move(build)));
  HONE_ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create());
  HONE_RETURN_IF_ERROR(library::WriteLibrary(built, dir.path()));
  HONE_ASSIGN_OR_RETURN(const library::LibraryFolder folder, library::ReadLibraryFolder(dir.path()));
  HONE_ASSIGN_OR_RETURN(const library::LoadedNetwork net,
                        library::LoadedNetwork::Load(folder.LibraryPath(), folder.identifier));
  const std::string params = folder.ParamsPath();
  HoneNetOptions options{};
  options.params_path = params.c_str();
  options.threads = 1;
  HoneNet* instance = nullptr;
  if (const int code = net.create(&options, &instance)) return Status::Io(net.strerror(code));
  std::vector<runtime::AlignedBuffer> buffers;
  std::vector<const void*> in;
  std::vector<void*> out;
  const HoneNetInfo& info = net.info();
  for (int i = 0; i < info.input_count; ++i) {
    HONE_ASSIGN_OR_RETURN(runtime::AlignedBuffer buffer,
                          runtime::AlignedBuffer::Create(static_cast<int64_t>(info.inputs[i].bytes)));
    const std::vector<char>& bytes = inputs.at(info.inputs[i].name).bytes;
    std::memcpy(buffer.data(), bytes.data(), bytes.size());
    buffers.push_back(std::move(buffer));
    in.push_back(buffers.back().data());
  }
  for (int i = 0; i < info.output_count; ++i) {
    HONE_ASSIGN_OR_RETURN(runtime::AlignedBuffer buffer,
                          runtime::AlignedBuffer::Create(static_cast<int64_t>(info.outputs[i].bytes)));
    buffers.push_back(std::move(buffer));
    out.push_back(buffers.back().data());
  }
  const int code = net.run(instance, in.data(), out.data());
  net.destroy(instance);
  if (code != 0) return Status::Io(net.strerror(code));
  Values result;
  for (int i = 0; i < info.output_count; ++i) {
    const std::string name = info.outputs[i].name;
    TensorData& values = result[name] = TensorData(*model.graph.FindType(name));
    HONE_CHECK(values.bytes.size() == info.outputs[i].bytes);
    std::memcpy(values.bytes.data(), out[static_cast<size_t>(i)], values.bytes.size());
  }
  return result;
}

bool Close(double found, double expected, double step) {
  if (std::isnan(expected)) return std::isnan(found);
  if (std::isinf(expected)) return found == expected;
  return std::fabs(found - expected) <= std::max(step, kAbsolute + kRelative * std::fabs(expected));
}

// The first difference; empty if the values agree.
std::string Difference(const std::string& name, const TensorData& data, const Tensor& expected, double step) {
  const std::vector<double> found = data.Doubles();
  if (data.Elements() != expected.Elements()) {
    return fmt::format("`{}` has {} elements, must have {}", name, found.size(), expected.Elements());
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (Close(found[i], expected.At(i), step)) continue;
    return fmt::format("`{}`[{}] is {}, must be {}", name, i, found[i], expected.At(i));
  }
  return "";
}

struct Attempt {
  Result<ImportedModel> model;
  Values inputs;
};

Attempt TryImport(const Model& model, const Data& data, bool weights) {
  ImportOptions options;
  options.constant_outputs = true;
  Values inputs;
  for (size_t i = 0; i < model.inputs.size() && i < data.inputs.size(); ++i) {
    const std::string& name = model.inputs[i].name;
    if (!IsInput(model, model.inputs[i].type) || (weights && i > 0)) {
      options.constants[name] = data.inputs[i];
    } else {
      options.shapes[name] = data.inputs[i].shape();
      const DType type = *KernelType(data.inputs[i].type);
      inputs[name] = TensorData({type, data.inputs[i].shape()}, data.inputs[i].data.Doubles());
    }
  }
  return {Import(model, "case", options), std::move(inputs)};
}

Outcome Refused(const Status& status) {
  return status.kind() == StatusKind::kUnsupported ? Outcome::kUnsupported : Outcome::kFailed;
}

}  // namespace

CaseResult RunCase(const std::string& dir, bool reference, double step) {
  CaseResult result;
  for (const char* name : kWrongCases) {
    if (BaseName(dir) == name) return {Outcome::kUnsupported, "?", "its expectation is wrong, see the source"};
  }
  auto model = ReadModel(JoinPath(dir, "model.onnx"));
  if (!model.ok()) return {Refused(model.status()), "?", model.status().message()};
  // A case with one node has the opset of its operator: one unchanged since opset 7 has the same meaning there. (All of
  // PyTorch's cases are of opset 6, and PRelu of 7 broadcasts differently.)
  const bool unchanged = model->nodes.size() == 1 && model->nodes[0].op != "PRelu";
  if (unchanged && model->Opset() > 0 && model->Opset() < kFirstOpset) model->opsets[""] = kFirstOpset;
  result.op = model->nodes.size() == 1 ? model->nodes[0].op : "several";
  const auto refused = [&result](const Status& status) {
    result.outcome = Refused(status);
    result.reason = status.message();
    return result;
  };
  const auto unsupported = [&result](const std::string& reason) {
    result.outcome = Outcome::kUnsupported;
    result.reason = reason;
    return result;
  };
  // Values other than tensors (sequences) cannot be read as such.
  for (const ModelInput& input : model->inputs) {
    if (!input.is_tensor) return unsupported("input `" + input.name + "` is not a tensor");
  }
  const auto data = ReadData(dir);
  if (!data.ok()) return unsupported(data.status().message());
  for (size_t i = 0; i < model->inputs.size() && i < data->inputs.size(); ++i) {
    // bfloat16 and float8 are stored as integers of their bits.
    if (model->inputs[i].type != data->inputs[i].type) {
      return unsupported("input `" + model->inputs[i].name + "` is " + ElementTypeName(model->inputs[i].type));
    }
  }
  Attempt attempt = TryImport(*model, *data, false);
  if (!attempt.model.ok() && attempt.model.status().kind() == StatusKind::kUnsupported) {
    Attempt second = TryImport(*model, *data, true);
    // An error in a model shows only once nothing unsupported hides it.
    if (second.model.ok() || second.model.status().kind() == StatusKind::kInvalid) attempt = std::move(second);
  }
  if (!attempt.model.ok()) return refused(attempt.model.status());
  const std::map<std::string, Tensor> constants = attempt.model->constant_outputs;
  const bool runs = !attempt.model->graph.outputs.empty();
  Values found;
  if (runs) {
    auto run = reference ? RunByReference(std::move(*attempt.model), attempt.inputs)
                         : RunLibrary(std::move(*attempt.model), attempt.inputs);
    if (!run.ok()) return refused(run.status());
    found = std::move(*run);
  }
  for (size_t i = 0; i < model->outputs.size() && i < data->outputs.size() && result.reason.empty(); ++i) {
    const std::string& name = model->outputs[i];
    const Tensor& expected = data->outputs[i];
    if (!expected.has_values()) {
      return unsupported("output `" + name + "` is " + ElementTypeName(expected.type));
    }
    const auto constant = constants.find(name);
    if (constant == constants.end()) {
      result.reason = Difference(name, found[name], expected, step);
    } else if (constant->second.shape() != expected.shape()) {
      result.reason =
          fmt::format("`{}` is {}, must be {}", name, ShapeText(constant->second.shape()), ShapeText(expected.shape()));
    } else {
      result.reason = Difference(name, constant->second.data, expected, step);
    }
  }
  if (result.reason.empty()) result.outcome = runs ? Outcome::kPassed : Outcome::kFolded;
  return result;
}

}  // namespace hone::onnx
