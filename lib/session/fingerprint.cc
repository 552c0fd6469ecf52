#include "session/fingerprint.h"

#include <fmt/format.h>

#include "base/cpu.h"

namespace hone::session {

std::string HostEnvironment() {
  const CpuInfo cpu = DetectCpu();
  return fmt::format("cpu={}; cores={}; governor={}; kernel={}", cpu.model, cpu.logical_cores, cpu.governor,
                     KernelRelease());
}

std::string HostFingerprint(int codegen_version, int protocol_version, const std::string& extra) {
  return fmt::format("{}; codegen={}; protocol={}{}{}", HostEnvironment(), codegen_version, protocol_version,
                     extra.empty() ? "" : "; ", extra);
}

std::string DeviceEnvironment(const Target& target, const runtime::DeviceInfo& info, const std::string& compiler) {
  const char* kind = target.kind == TargetKind::kCuda ? "cuda" : "opencl";
  return fmt::format("{}={}; id={}; driver={}{}{}", kind, info.name, info.identity, info.driver,
                     compiler.empty() ? "" : "; compiler=", compiler);
}

std::string DeviceFingerprint(const Target& target, const runtime::DeviceInfo& info, const std::string& compiler,
                              int codegen_version, int protocol_version) {
  return fmt::format("{}; codegen={}; protocol={}", DeviceEnvironment(target, info, compiler), codegen_version,
                     protocol_version);
}

}  // namespace hone::session
