// The machine that times are taken on: its lock and its fingerprint.
//
// Compiling and computing share the host; timing has the device to itself (base/lock.h).
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/lock.h"
#include "base/result.h"
#include "target/target.h"

namespace hone::session {

enum class Use { kShared, kExclusive };

Result<MachineLock> OpenMachine();
// Opens the lock of the machine that a target's candidates are timed on. A GPU is a different machine from its host and
// from other GPUs, whatever number CUDA_VISIBLE_DEVICES or Slurm gave it (DeviceInfo::lock_name). OpenCL's device may
// be the CPU. Returns kIo if there is a GPU that cannot be identified now.
Result<MachineLock> OpenMachine(const Target& target);
// The name of its lock: "cpu", "GPU-<uuid>", ...; kIo as above.
Result<std::string> MachineName(const Target& target);

// The locks of a job that compiles for a device and times on it. Compiling for a GPU shares the host, which keeps
// others from timing there, and needs no GPU. Timing takes only the GPU. If the device is the host, both use one lock.
//
// No job waits for the host, or for any other lock, while it holds the device. So one job can always proceed.
class Turns {
 public:
  static Result<Turns> Open(const Target& target);
  // Without `device`, the device is the host.
  explicit Turns(MachineLock host, std::optional<MachineLock> device = std::nullopt)
      : host_(std::move(host)), device_(std::move(device)) {}

  // True if the device has its own lock: compiling on the host does not disturb timing on the device.
  bool apart() const { return device_.has_value(); }

  // Locks the host, shared with other jobs that compile or compute. REQUIRES: the device is not held. Errors are those
  // of MachineLock.
  Status Compute(double timeout_seconds = -1) { return host_.LockShared(timeout_seconds); }
  // Ends compiling: releases the host, unless Time follows on the same lock.
  void Computed() {
    if (apart()) host_.Unlock();
  }
  // Locks the device exclusively. If the device is the host, this replaces Compute.
  Status Time(double timeout_seconds = -1) { return LockOf(Use::kExclusive)->LockExclusive(timeout_seconds); }
  // Releases the device, if it has its own lock, but keeps the host: for waiting on a compiler.
  void Timed() {
    if (apart()) device_->Unlock();
  }
  void Unlock();  // both

  // The lock that Compute (kShared) or Time needs.
  MachineLock* LockOf(Use use) { return use == Use::kExclusive && device_ ? &*device_ : &host_; }

 private:
  MachineLock host_;
  std::optional<MachineLock> device_;
};

// Releases both at the end of its scope.
class TurnsEnd {
 public:
  explicit TurnsEnd(Turns* turns) : turns_(turns) {}
  TurnsEnd(const TurnsEnd&) = delete;
  TurnsEnd& operator=(const TurnsEnd&) = delete;
  ~TurnsEnd() { turns_->Unlock(); }

 private:
  Turns* turns_;
};

// Waits for its turn, and logs that if it takes long. Returns kInterrupted on ^C.
Status TakeMachine(MachineLock* machine, Use use);
// The same with Turns: Compute, or Computed and Time.
Status TakeTurn(Turns* turns, Use use);

// The fingerprint of a machine: all that times depend on. Times of different fingerprints are never compared.
// "cuda=<name>; id=GPU-<uuid>; driver=CUDA 12.4; compiler=NVRTC 13.0; codegen=1; protocol=1". `environment` comes from
// measure::Machine::Environment, `compiler` from compile::Backend::CompilerVersion; it may be empty.
std::string Fingerprint(const std::string& environment, const std::string& compiler, int codegen_version,
                        int protocol_version);

// The fingerprint of this host.
Result<std::string> HostFingerprint(int codegen_version, int protocol_version);

}  // namespace hone::session
