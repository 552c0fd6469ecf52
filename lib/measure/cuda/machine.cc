#include "measure/machine.h"

#include "runtime/cuda/cuda_device.h"
#include "target/cuda_arch.h"

namespace hone::measure {
namespace {

class CudaDevices final : public Machine {
 public:
  const TargetKind& kind() const override { return CudaKind(); }
  Result<runtime::DeviceInfo> Describe() const override { return runtime::DescribeCudaDevice(); }
  Result<std::unique_ptr<runtime::Device>> Open() const override { return runtime::OpenCudaDevice(); }
  int NewestCode() const override { return runtime::CudaDriverMajor(); }

  // A cubin runs on devices of its own major version, from its own minor version on.
  Status CheckRuns(const Target& target, const runtime::DeviceInfo& info) const override {
    const int made = CudaArchNumber(target.cpu), has = CudaArchNumber(info.arch);
    if (made / 10 == has / 10 && made % 10 <= has % 10) return Status();
    return Status::Unsupported("the target is {}, but {} here is {}: name a target file with arch = \"{}\"", target.cpu,
                               info.name, info.arch, info.arch);
  }

  // If the device is missing, opening it later says so. A device that only does not answer now has a lock of its own,
  // which others hold: with another lock, we would time beside them.
  Result<std::string> LockWithout(const Status& why) const override {
    if (why.kind() != StatusKind::kNotFound && why.kind() != StatusKind::kUnsupported) return why;
    return std::string("cuda");
  }
};

}  // namespace

const Machine& CudaMachine() {
  static const CudaDevices machine;
  return machine;
}

}  // namespace hone::measure
