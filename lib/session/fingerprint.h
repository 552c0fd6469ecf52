// The machine that times were taken on, as far as they depend on it: times of different fingerprints are never
// compared.
#pragma once

#include <string>

namespace hone::session {

// "cpu=<model>; cores=2; governor=performance; kernel=6.1.0-18-amd64; codegen=1; protocol=1; <extra>"; `extra` may be
// empty.
std::string HostFingerprint(int codegen_version, int protocol_version, const std::string& extra = "");

}  // namespace hone::session
