// The machine that times were taken on, as far as they depend on it: times of different fingerprints are never
// compared.
#pragma once

#include <string>

#include "runtime/device/device.h"
#include "target/target.h"

namespace hone::session {

// The machine alone: "cpu=<model>; cores=2; governor=performance; kernel=6.1.0-18-amd64".
std::string HostEnvironment();

// "cpu=<model>; cores=2; governor=performance; kernel=6.1.0-18-amd64; codegen=1; protocol=1; <extra>"; `extra` may be
// empty.
std::string HostFingerprint(int codegen_version, int protocol_version, const std::string& extra = "");

// A device alone: "cuda=<name>; id=GPU-<uuid>; driver=CUDA 12.4; compiler=NVRTC 13.0".
std::string DeviceEnvironment(const Target& target, const runtime::DeviceInfo& info, const std::string& compiler);

// The same of a device: "cuda=<name>; id=GPU-<uuid>; driver=CUDA 12.4; compiler=NVRTC 13.0; codegen=1; protocol=1".
// `compiler` may be empty: the driver's own.
std::string DeviceFingerprint(const Target& target, const runtime::DeviceInfo& info, const std::string& compiler,
                              int codegen_version, int protocol_version);

}  // namespace hone::session
