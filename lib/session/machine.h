// The machine that times are taken on: its lock and its fingerprint.
//
// Compiling and computing share the host, timing has the device alone (base/lock.h).
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
// The machine that a target's candidates are timed on: a GPU is another machine than its host and than other GPUs,
// whatever number CUDA_VISIBLE_DEVICES or Slurm gave it (DeviceInfo::lock_name). OpenCL's device may be the CPU. kIo:
// there is a GPU, but it does not say now which one it is.
Result<MachineLock> OpenMachine(const Target& target);
// The name of its lock: "cpu", "GPU-<uuid>", ...; kIo as above.
Result<std::string> MachineName(const Target& target);

// The locks of a job that compiles for a device and times on it. Compiling for a GPU shares the host, so that nothing
// is timed there, and needs no GPU. Timing takes the GPU alone. If the device is the host, both use one lock.
//
// No job waits for the host, or for any other lock, while it holds the device. So one job can always go on.
class Turns {
 public:
  static Result<Turns> Open(const Target& target);
  // No device: it is the host.
  explicit Turns(MachineLock host, std::optional<MachineLock> device = std::nullopt)
      : host_(std::move(host)), device_(std::move(device)) {}

  // The device has its own lock: compiling on the host does not disturb timing on the device.
  bool apart() const { return device_.has_value(); }

  // The host, shared with other jobs that compile or compute. REQUIRES: the device is not held. Errors: as of
  // MachineLock.
  Status Compute(double timeout_seconds = -1) { return host_.LockShared(timeout_seconds); }
  // Compiling is over: the host is given back, but not where Time is to follow on the same lock.
  void Computed() {
    if (apart()) host_.Unlock();
  }
  // The device alone. Where it is the host, this replaces Compute.
  Status Time(double timeout_seconds = -1) { return TimedOn()->LockExclusive(timeout_seconds); }
  // Releases the device, if it has its own lock, and keeps the host: for waiting on a compiler.
  void Timed() {
    if (apart()) device_->Unlock();
  }
  void Unlock();  // both

  // Who holds or waits for what Compute or Time waits for (MachineLock::Holders).
  std::string Holders(Use use) const;

 private:
  MachineLock* TimedOn() { return device_ ? &*device_ : &host_; }

  MachineLock host_;
  std::optional<MachineLock> device_;
};

// Releases both at the end of its scope, however that ends.
class TurnsEnd {
 public:
  explicit TurnsEnd(Turns* turns) : turns_(turns) {}
  TurnsEnd(const TurnsEnd&) = delete;
  TurnsEnd& operator=(const TurnsEnd&) = delete;
  ~TurnsEnd() { turns_->Unlock(); }

 private:
  Turns* turns_;
};

// Waits for its turn, and says so if it takes more than a moment. kInterrupted on ^C.
Status TakeMachine(MachineLock* machine, Use use);
// The same of Turns: Compute, or the end of that and Time.
Status TakeTurn(Turns* turns, Use use);

// The fingerprint of a machine, as far as times depend on it: times of different fingerprints are never compared.
// "cuda=<name>; id=GPU-<uuid>; driver=CUDA 12.4; compiler=NVRTC 13.0; codegen=1; protocol=1". `environment`:
// measure::Machine::Environment. `compiler`: compile::Backend::CompilerVersion, which may be empty.
std::string Fingerprint(const std::string& environment, const std::string& compiler, int codegen_version,
                        int protocol_version);

// That of this host.
std::string HostFingerprint(int codegen_version, int protocol_version);

}  // namespace hone::session
