#include "library/network_runner.h"

#include <cstring>

namespace hone::library {

Status NetworkRunner::Create(const std::string& params, const std::vector<std::vector<float>>& inputs) {
  const HoneNetInfo& info = net_.info();
  if (static_cast<size_t>(info.input_count) != inputs.size())
    return Status::Invalid("the library and its graph differ in their inputs");
  for (int i = 0; i < info.input_count; ++i) {
    if (info.inputs[i].bytes != inputs[static_cast<size_t>(i)].size() * sizeof(float)) {
      return Status::Invalid("the library and its graph differ in their inputs");
    }
    HONE_RETURN_IF_ERROR(AddBuffer(info.inputs[i].bytes, &in_));
    std::memcpy(buffers_.back().data(), inputs[static_cast<size_t>(i)].data(), info.inputs[i].bytes);
  }
  for (int i = 0; i < info.output_count; ++i) HONE_RETURN_IF_ERROR(AddBuffer(info.outputs[i].bytes, &out_));
  HoneNetOptions options{};
  options.params_path = params.c_str();
  options.pin = 1;
  return Check(net_.create(&options, &instance_));
}

std::vector<std::vector<float>> NetworkRunner::Outputs() const {
  std::vector<std::vector<float>> outputs;
  for (int i = 0; i < net_.info().output_count; ++i) {
    const float* values = static_cast<const float*>(out_[static_cast<size_t>(i)]);
    outputs.emplace_back(values, values + net_.info().outputs[i].bytes / sizeof(float));
  }
  return outputs;
}

Status NetworkRunner::Check(int code) const {
  if (code == HONE_NET_OK) return Status();
  const std::string detail = net_.error_detail();
  return Status::Invalid(std::string(net_.info().network) + ": " + net_.strerror(code) +
                         (detail.empty() ? "" : ": " + detail));
}

}  // namespace hone::library
