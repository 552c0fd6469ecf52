#include <cstddef>

#include "library/runtime/net_device.h"
#include "library/tables.h"

namespace hone::library {
namespace {

using To = codegen::DataObjectWriter::To;

// The structs are written field by field; these layouts (64-bit pointers) must match the code below.
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

  To Modules() {
    std::vector<To> code;
    for (const NetworkKernel& kernel : kernels_) {
      out_.AlignTo(64);
      code.push_back({out_.size()});
      out_.Add(kernel.compiled.object, std::string_view("\0", 1));
    }
    const To at = Begin();
    for (size_t i = 0; i < kernels_.size(); ++i) out_.Add(code[i], uint64_t{kernels_[i].compiled.object.size()});
    return at;
  }

  To Launches() {
    std::vector<To> symbols, args;
    for (const DeviceLaunch& launch : device_.launches) symbols.push_back({out_.String(launch.launch->symbol)});
    for (const DeviceLaunch& launch : device_.launches) args.push_back(Places(launch.args));
    const To at = Begin();
    for (size_t i = 0; i < device_.launches.size(); ++i) {
      const DeviceLaunch& launch = device_.launches[i];
      out_.Add(symbols[i], static_cast<uint32_t>(launch.module),
               static_cast<uint32_t>(launch.launch->dynamic_shared_bytes));
      for (const int64_t n : launch.launch->grid) out_.Add(static_cast<uint32_t>(n));
      for (const int64_t n : launch.launch->block) out_.Add(static_cast<uint32_t>(n));
      out_.Add(args[i], uint64_t{launch.args.size()});
    }
    return at;
  }

  To Places(const std::vector<DevicePlace>& places) {
    const To at = Begin();
    for (const DevicePlace& place : places) Add(place);
    return at;
  }

  To Steps() {
    const To at = Begin();
    for (const LaunchRange& range : device_.nodes) Add(range);
    return at;
  }

  To Uploads() {
    const To at = Begin();
    for (const DeviceUpload& upload : device_.uploads) {
      out_.Add(params_.offsets[upload.blob]);
      Add(upload.to);
    }
    return at;
  }

  To Packings() {
    const To at = Begin();
    for (const DevicePacking& packing : device_.packings) {
      out_.Add(static_cast<uint32_t>(packing.first_upload), static_cast<uint32_t>(packing.upload_count));
      Add(packing.launches);
    }
    return at;
  }

 private:
  To Begin() {
    out_.AlignTo(8);
    return {out_.size()};
  }
  void Add(const DevicePlace& place) {
    out_.Add(static_cast<uint32_t>(place.memory), uint32_t{0}, static_cast<uint64_t>(place.offset),
             static_cast<uint64_t>(place.bytes));
  }
  void Add(const LaunchRange& range) {
    out_.Add(static_cast<uint32_t>(range.first), static_cast<uint32_t>(range.count));
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
  const To arch{out.String(target.cpu)};
  DeviceTableMaker maker(kernels, device, params, &out);
  const To modules = maker.Modules(), launches = maker.Launches(), steps = maker.Steps();
  const To inputs = maker.Places(device.inputs), outputs = maker.Places(device.outputs);
  const To uploads = maker.Uploads(), packings = maker.Packings();
  out.AlignTo(64);
  const uint64_t at = out.size();
  info.Add(&out);
  out.Add(arch, static_cast<uint64_t>(plan.alignment));
  for (const int64_t bytes : device.memory) out.Add(static_cast<uint64_t>(bytes));
  out.Add(modules, uint64_t{kernels.size()}, launches, uint64_t{device.launches.size()}, steps, inputs, outputs,
          uploads, uint64_t{device.constant_uploads}, packings, uint64_t{device.packings.size()});
  return out.Finish("hone_net_device_table", at, triple);
}

}  // namespace hone::library
