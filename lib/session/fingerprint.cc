#include "session/fingerprint.h"

#include <fmt/format.h>

#include "base/cpu.h"

namespace hone::session {

std::string HostFingerprint(int codegen_version, int protocol_version, const std::string& extra) {
  const CpuInfo cpu = DetectCpu();
  return fmt::format("cpu={}; cores={}; governor={}; kernel={}; codegen={}; protocol={}{}{}", cpu.model,
                     cpu.logical_cores, cpu.governor, KernelRelease(), codegen_version, protocol_version,
                     extra.empty() ? "" : "; ", extra);
}

}  // namespace hone::session
