#include "session/fingerprint.h"

#include <fmt/format.h>

#include "measure/machine.h"

namespace hone::session {

std::string Fingerprint(const std::string& environment, const std::string& compiler, int codegen_version,
                        int protocol_version) {
  return fmt::format("{}{}{}; codegen={}; protocol={}", environment, compiler.empty() ? "" : "; compiler=", compiler,
                     codegen_version, protocol_version);
}

std::string HostFingerprint(int codegen_version, int protocol_version) {
  return Fingerprint(measure::HostEnvironment(), "", codegen_version, protocol_version);
}

}  // namespace hone::session
