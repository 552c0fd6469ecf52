#include "measure/machine.h"

#include <algorithm>

#include "runtime/opencl/opencl_device.h"

namespace hone::measure {
namespace {

class OpenClDevices final : public Machine {
 public:
  const TargetKind& kind() const override { return OpenClKind(); }
  Result<runtime::DeviceInfo> Describe() const override { return runtime::DescribeOpenClDevice(); }
  Result<std::unique_ptr<runtime::Device>> Open() const override { return runtime::OpenOpenClDevice(); }

  // The device may be the CPU. If it is missing, opening it says so.
  Result<std::string> LockWithout(const Status&) const override { return std::string("cpu"); }

  // OpenCL on a CPU reports a cache as local memory: more than GPUs have is useless.
  DeviceLimits TargetLimits(const runtime::DeviceInfo& info) const override {
    DeviceLimits limits = info.limits;
    limits.shared_bytes_per_block = std::min(limits.shared_bytes_per_block, DeviceLimits().shared_bytes_per_block);
    return limits;
  }
};

}  // namespace

const Machine& OpenClMachine() {
  static const OpenClDevices machine;
  return machine;
}

}  // namespace hone::measure
