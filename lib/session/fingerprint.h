// The machine that times were taken on, as far as they depend on it: times of different fingerprints are never
// compared.
#pragma once

#include <string>

namespace hone::session {

// "cuda=<name>; id=GPU-<uuid>; driver=CUDA 12.4; compiler=NVRTC 13.0; codegen=1; protocol=1". `environment`:
// measure::Machine::Environment. `compiler`: compile::Backend::CompilerVersion, which may be empty.
std::string Fingerprint(const std::string& environment, const std::string& compiler, int codegen_version,
                        int protocol_version);

// That of this host.
std::string HostFingerprint(int codegen_version, int protocol_version);

}  // namespace hone::session
