#include "measure/open_device.h"

#include <fmt/format.h>

#include "runtime/cuda/cuda_device.h"
#include "runtime/opencl/opencl_device.h"
#include "target/cuda_arch.h"

namespace hone::measure {
namespace {

// A cubin runs on its own major version, from its own minor version on.
Status CheckArch(const Target& target, const runtime::DeviceInfo& info) {
  if (target.kind != TargetKind::kCuda) return Status();
  const int made = CudaArchNumber(target.cpu), has = CudaArchNumber(info.arch);
  if (made / 10 == has / 10 && made % 10 <= has % 10) return Status();
  return Status::Unsupported(fmt::format("the target is {}, but {} here is {}: name a target file with arch = \"{}\"",
                                         target.cpu, info.name, info.arch, info.arch));
}

Status NoDevice(const Target& target) {
  return Status::Unsupported(fmt::format("no device runs the target `{}`", target.Text()));
}

}  // namespace

Result<std::unique_ptr<runtime::Device>> OpenDevice(const Target& target) {
  HONE_RETURN_IF_ERROR(DescribeDevice(target).status());
  return target.kind == TargetKind::kCuda ? runtime::OpenCudaDevice() : runtime::OpenOpenClDevice();
}

int NewestCuda(const Target& target) { return target.kind == TargetKind::kCuda ? runtime::CudaDriverMajor() : 0; }

Result<runtime::DeviceInfo> DescribeDevice(const Target& target) {
  if (!target.IsGpu()) return NoDevice(target);
  Result<runtime::DeviceInfo> info =
      target.kind == TargetKind::kCuda ? runtime::DescribeCudaDevice() : runtime::DescribeOpenClDevice();
  if (info.ok()) HONE_RETURN_IF_ERROR(CheckArch(target, *info));
  return info;
}

}  // namespace hone::measure
