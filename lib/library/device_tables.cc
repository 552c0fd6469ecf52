#include "library/device_tables.h"

#include <cstddef>

#include "codegen/elf/data_object.h"
#include "library/runtime/net_device.h"
#include "library/table_info.h"

namespace hone::library {
namespace {

// The structs are written field by field; these are the layouts that the code below writes (64-bit pointers).
static_assert(sizeof(HoneNetPlace) == 24 && sizeof(HoneNetModule) == 16 && sizeof(HoneNetStep) == 8);
static_assert(sizeof(HoneNetLaunch) == 56 && offsetof(HoneNetLaunch, args) == 40);
static_assert(sizeof(HoneNetUpload) == 32 && sizeof(HoneNetPacking) == 16);
static_assert(sizeof(HoneNetDeviceTable) == 224 && offsetof(HoneNetDeviceTable, arch) == 96 &&
              offsetof(HoneNetDeviceTable, modules) == 136 && offsetof(HoneNetDeviceTable, packings) == 208);
static_assert(static_cast<int>(DeviceMemory::kArena) == HONE_NET_IN_ARENA &&
              static_cast<int>(DeviceMemory::kConstants) == HONE_NET_IN_CONSTANTS &&
              static_cast<int>(DeviceMemory::kStaging) == HONE_NET_IN_STAGING);

class DeviceTableMaker {
 public:
  DeviceTableMaker(const std::vector<NetworkKernel>& kernels, const DevicePlan& device, const ParamsFile& params,
                   codegen::DataObjectWriter* out)
      : kernels_(kernels), device_(device), params_(params), out_(*out) {}

  uint64_t Modules() {
    std::vector<uint64_t> code;
    for (const NetworkKernel& kernel : kernels_) {
      out_.AlignTo(64);
      code.push_back(out_.size());
      out_.AddBytes(kernel.compiled.object);
      out_.AddBytes(std::string_view("\0", 1));
    }
    out_.AlignTo(8);
    const uint64_t at = out_.size();
    for (size_t i = 0; i < kernels_.size(); ++i) {
      out_.AddPointer(code[i]);
      out_.Add64(kernels_[i].compiled.object.size());
    }
    return at;
  }

  uint64_t Launches() {
    std::vector<uint64_t> symbols, args;
    for (const DeviceLaunch& launch : device_.launches) symbols.push_back(out_.String(launch.launch->symbol));
    for (const DeviceLaunch& launch : device_.launches) args.push_back(Places(launch.args));
    out_.AlignTo(8);
    const uint64_t at = out_.size();
    for (size_t i = 0; i < device_.launches.size(); ++i) {
      const DeviceLaunch& launch = device_.launches[i];
      out_.AddPointer(symbols[i]);
      out_.Add32(static_cast<uint32_t>(launch.module));
      out_.Add32(static_cast<uint32_t>(launch.launch->dynamic_shared_bytes));
      for (const int64_t n : launch.launch->grid) out_.Add32(static_cast<uint32_t>(n));
      for (const int64_t n : launch.launch->block) out_.Add32(static_cast<uint32_t>(n));
      out_.AddPointer(args[i]);
      out_.Add64(launch.args.size());
    }
    return at;
  }

  uint64_t Places(const std::vector<DevicePlace>& places) {
    out_.AlignTo(8);
    const uint64_t at = out_.size();
    for (const DevicePlace& place : places) Add(place);
    return at;
  }

  uint64_t Steps() {
    const uint64_t at = out_.size();
    for (const LaunchRange& range : device_.nodes) Add(range);
    return at;
  }

  uint64_t Uploads() {
    out_.AlignTo(8);
    const uint64_t at = out_.size();
    for (const DeviceUpload& upload : device_.uploads) {
      out_.Add64(params_.offsets[upload.blob]);
      Add(upload.to);
    }
    return at;
  }

  uint64_t Packings() {
    const uint64_t at = out_.size();
    for (const DevicePacking& packing : device_.packings) {
      out_.Add32(static_cast<uint32_t>(packing.first_upload));
      out_.Add32(static_cast<uint32_t>(packing.upload_count));
      Add(packing.launches);
    }
    return at;
  }

 private:
  void Add(const DevicePlace& place) {
    out_.Add32(static_cast<uint32_t>(place.memory));
    out_.Add32(0);
    out_.Add64(static_cast<uint64_t>(place.offset));
    out_.Add64(static_cast<uint64_t>(place.bytes));
  }
  void Add(const LaunchRange& range) {
    out_.Add32(static_cast<uint32_t>(range.first));
    out_.Add32(static_cast<uint32_t>(range.count));
  }

  const std::vector<NetworkKernel>& kernels_;
  const DevicePlan& device_;
  const ParamsFile& params_;
  codegen::DataObjectWriter& out_;
};

}  // namespace

Result<std::string> MakeDeviceTables(const graph::Graph& graph, const Target& target, const NetworkPlan& plan,
                                     const std::vector<NetworkKernel>& kernels, const DevicePlan& device,
                                     const ParamsFile& params, const std::string& triple) {
  codegen::DataObjectWriter out;
  const TableInfo info(graph, target, plan, params, &out);
  const uint64_t arch = out.String(target.cpu);
  DeviceTableMaker maker(kernels, device, params, &out);
  const uint64_t modules = maker.Modules(), launches = maker.Launches(), steps = maker.Steps();
  const uint64_t inputs = maker.Places(device.inputs), outputs = maker.Places(device.outputs);
  const uint64_t uploads = maker.Uploads(), packings = maker.Packings();
  out.AlignTo(64);
  const uint64_t at = out.size();
  info.Add(&out);
  out.AddPointer(arch);
  out.Add64(static_cast<uint64_t>(plan.alignment));
  for (const int64_t bytes : device.memory) out.Add64(static_cast<uint64_t>(bytes));
  out.AddPointer(modules);
  out.Add64(kernels.size());
  out.AddPointer(launches);
  out.Add64(device.launches.size());
  out.AddPointer(steps);
  out.AddPointer(inputs);
  out.AddPointer(outputs);
  out.AddPointer(uploads);
  out.Add64(device.constant_uploads);
  out.AddPointer(packings);
  out.Add64(device.packings.size());
  return out.Finish("hone_net_device_table", at, triple);
}

}  // namespace hone::library
