#include "library/network_runner.h"

#include <cstring>

namespace hone::library {

static Result<TensorType> TypeOf(const HoneNetTensor& tensor) {
  HONE_ASSIGN_OR_RETURN(const DType type, ParseDType(tensor.type));
  TensorType of{type, {tensor.shape, tensor.shape + tensor.rank}};
  const auto bytes = static_cast<uint64_t>(of.Elements() * type.bytes());
  if (bytes == tensor.bytes) return of;
  return Status::Corrupt(std::string("the library says that ") + tensor.name + " is " + of.Text() +
                         ", and has another number of bytes");
}

Status NetworkRunner::Create(const std::string& params, const std::vector<TensorData>& inputs) {
  const HoneNetInfo& info = net_.info();
  for (int i = 0; i < info.input_count; ++i) HONE_RETURN_IF_ERROR(AddBuffer(info.inputs[i].bytes, &in_));
  HONE_RETURN_IF_ERROR(SetInputs(inputs));
  for (int i = 0; i < info.output_count; ++i) {
    HONE_ASSIGN_OR_RETURN(TensorType type, TypeOf(info.outputs[i]));
    HONE_RETURN_IF_ERROR(AddBuffer(info.outputs[i].bytes, &out_));
    output_types_.push_back(std::move(type));
  }
  HoneNetOptions options{.params_path = params.c_str(), .pin = 1};
  HONE_RETURN_IF_ERROR(Check(net_.create(&options, &instance_)));
  if (!net_.on_device()) return Status();
  HoneNetDeviceInfo device{};
  HONE_RETURN_IF_ERROR(Check(net_.device(instance_, &device, nullptr, nullptr)));
  queue_ = device.queue;
  return Status();
}

Status NetworkRunner::SetInputs(const std::vector<TensorData>& inputs) {
  const HoneNetInfo& info = net_.info();
  const Status differ = Status::Invalid("the library and its graph differ in their inputs");
  if (static_cast<size_t>(info.input_count) != inputs.size()) return differ;
  for (int i = 0; i < info.input_count; ++i) {
    const TensorData& input = inputs[static_cast<size_t>(i)];
    HONE_ASSIGN_OR_RETURN(const TensorType type, TypeOf(info.inputs[i]));
    if (type != input.type) return differ;
    std::memcpy(buffers_[static_cast<size_t>(i)].data(), input.bytes.data(), info.inputs[i].bytes);
  }
  return Status();
}

std::vector<TensorData> NetworkRunner::Outputs() const {
  std::vector<TensorData> outputs;
  for (int i = 0; i < net_.info().output_count; ++i) {
    TensorData& output = outputs.emplace_back(output_types_[static_cast<size_t>(i)]);
    std::memcpy(output.bytes.data(), out_[static_cast<size_t>(i)], output.bytes.size());
  }
  return outputs;
}

Status NetworkRunner::Check(int code) const {
  if (code == HONE_NET_OK) return Status();
  const std::string detail = net_.error_detail();
  return Status::Invalid(std::string(net_.info().network) + ": " + net_.strerror(code) +
                         (detail.empty() ? "" : ": " + detail));
}

Result<RunningNetwork> RunningNetwork::Start(const LibraryFolder& folder, const std::vector<TensorData>& inputs) {
  RunningNetwork running;
  HONE_ASSIGN_OR_RETURN(LoadedNetwork net, LoadedNetwork::Load(folder.LibraryPath(), folder.identifier));
  running.net = std::make_unique<LoadedNetwork>(std::move(net));
  running.runner = std::make_unique<NetworkRunner>(*running.net);
  HONE_RETURN_IF_ERROR(running.runner->Create(folder.ParamsPath(), inputs));
  HONE_RETURN_IF_ERROR(running.runner->Run());
  return running;
}

}  // namespace hone::library
