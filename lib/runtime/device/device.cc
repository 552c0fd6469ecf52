#include "runtime/device/device.h"

namespace hone::runtime {

std::string UuidText(const unsigned char* bytes, const std::string& kind) {
  std::string text = kind + "-";
  for (int i = 0; i < 16; ++i) {
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
  }
  return text;
}

Result<const EntryPoint*> CheckArguments(const Artifact& artifact, const std::string& symbol,
                                         const DeviceArguments& arguments) {
  const EntryPoint* entry = artifact.Find(symbol);
  if (entry == nullptr) return Status::Invalid("the module has no entry point `{}`", symbol);
  if (entry->args.size() != arguments.size()) {
    return Status::Invalid("`{}` takes {} arguments, {} are given", symbol, entry->args.size(), arguments.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const int64_t needed = entry->args[i].elements * entry->args[i].type.element_bytes();
    if (arguments[i] == nullptr || arguments[i]->bytes() < needed) {
      return Status::Invalid("`{}`: argument {} ({}) needs {} bytes, the buffer has {}", symbol, i, entry->args[i].name,
                             needed, arguments[i] ? arguments[i]->bytes() : 0);
    }
  }
  return entry;
}

Result<DeviceWorkspaces> AllocateWorkspaces(const Artifact& artifact, Device* device) {
  DeviceWorkspaces workspaces;
  for (const EntryPoint& entry : artifact.entries) {
    for (const int64_t bytes : entry.workspace_buffers) {
      HONE_ASSIGN_OR_RETURN(workspaces[entry.symbol].emplace_back(), device->Allocate(bytes));
    }
  }
  return workspaces;
}

std::vector<const DeviceBuffer*> BuffersOf(const Launch& launch, const DeviceArguments& arguments,
                                           const std::vector<std::unique_ptr<DeviceBuffer>>& workspaces) {
  std::vector<const DeviceBuffer*> buffers;
  for (const int arg : launch.args) {
    buffers.push_back(arg >= 0 ? arguments[static_cast<size_t>(arg)] : workspaces[static_cast<size_t>(~arg)].get());
  }
  return buffers;
}

Status CheckThreads(const Launch& launch, int64_t most) {
  const int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (threads <= most) return Status();
  return Status::Invalid("kernel `{}` has {} threads in a block, the device runs at most {} of it", launch.symbol,
                         threads, most);
}

}  // namespace hone::runtime
