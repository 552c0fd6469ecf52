#include "agree/on_device.h"

#include <memory>

namespace hone::agree {

Status RunOnDevice(runtime::Device* device, runtime::DeviceModule* module, const KernelInterface& kernel,
                   const std::string& symbol, std::vector<std::vector<float>>* operands) {
  std::vector<std::unique_ptr<runtime::DeviceBuffer>> buffers, prepared;
  for (const std::vector<float>& values : *operands) {
    const int64_t bytes = static_cast<int64_t>(values.size()) * 4;
    HONE_ASSIGN_OR_RETURN(auto buffer, device->Allocate(bytes));
    HONE_RETURN_IF_ERROR(device->CopyIn(buffer.get(), values.data(), bytes));
    buffers.push_back(std::move(buffer));
  }
  for (const PreparedConstant& p : kernel.prepared) {
    HONE_ASSIGN_OR_RETURN(auto buffer, device->Allocate(p.elements * 4));
    prepared.push_back(std::move(buffer));
  }
  const auto run = [&](const std::string& entry, const std::vector<ArgSource>& sources) {
    runtime::DeviceArguments arguments;
    for (const ArgSource& source : sources) {
      const bool packed = source.kind == ArgSource::Kind::kPrepared;
      arguments.push_back((packed ? prepared : buffers)[static_cast<size_t>(source.index)].get());
    }
    return module->Run(entry, arguments);
  };
  if (kernel.has_prepare) HONE_RETURN_IF_ERROR(run(symbol + "_prepare", kernel.prepare_args));
  HONE_RETURN_IF_ERROR(run(symbol, kernel.kernel_args));
  std::vector<float>& out = operands->back();
  return device->CopyOut(out.data(), *buffers.back(), static_cast<int64_t>(out.size()) * 4);
}

}  // namespace hone::agree
