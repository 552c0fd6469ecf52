// Machine: what candidates of a target run on: this host or a device. One object per back end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/candidate_runner.h"
#include "measure/messages.h"
#include "runtime/device/device.h"
#include "target/target.h"

namespace hone::measure {

class Machine {
 public:
  virtual ~Machine() = default;
  virtual const TargetKind& kind() const = 0;

  // Describes the device without opening it; takes milliseconds. Returns kNotFound without a device; the message says
  // what is missing and what to do.
  virtual Result<runtime::DeviceInfo> Describe() const = 0;
  // Returns kUnsupported if the device cannot run the target's code.
  virtual Status CheckRuns(const Target&, const runtime::DeviceInfo&) const { return Status(); }
  // The properties that times depend on, for fingerprints: "cuda=<name>; id=GPU-<uuid>; driver=CUDA 12.4", then, where
  // known, "; release=550.54.15", and "; power=300 W" for a limit that is not the device's usual one.
  virtual Result<std::string> Environment(const runtime::DeviceInfo& info) const;
  // The name of the machine's lock (DeviceInfo::lock_name) after Describe failed with `why`; returns `why` if the name
  // is unknown.
  virtual Result<std::string> LockWithout(const Status& why) const = 0;
  // The limits of this device, for a target file.
  virtual DeviceLimits TargetLimits(const runtime::DeviceInfo& info) const { return info.limits; }
  // CompileOptions::newest_cuda: the newest major version of generated code that the driver on this machine loads. 0:
  // any. The machine that will run a library may differ (doc/internals/gpu.md).
  virtual int NewestCode() const { return 0; }

  // Returns kUnsupported if this machine is not a device.
  virtual Result<std::unique_ptr<runtime::Device>> Open() const = 0;
  // For the measuring child: gives up the rights that candidates must not have, then opens the device.
  virtual Result<std::unique_ptr<CandidateRunner>> MakeRunner(const TaskSetup& setup, const Target& target) const;
};

#define HONE_BACKEND(folder, Name) const Machine& Name##Machine();
#include "target/backends.def"
#undef HONE_BACKEND

// All machines that this build knows, present or not.
const std::vector<const Machine*>& Machines();
// For tests; call it before other threads run.
void AddMachine(const Machine* machine);
// Returns kUnsupported if no machine can run this kind of target.
Result<const Machine*> FindMachine(const Target& target);

// Combines FindMachine, Describe and CheckRuns.
Result<runtime::DeviceInfo> DescribeMachine(const Target& target);
// Combines FindMachine, DescribeMachine and Open.
Result<std::unique_ptr<runtime::Device>> OpenDevice(const Target& target);
// Fills in `target` and `device` of a setup: the device that this process finds is the one to measure on.
Status NameDevice(const Target& target, TaskSetup* setup);
// Machine::NewestCode of the target's machine; 0 without one.
int NewestCode(const Target& target);
// This host: "cpu=<model>; cores=2; governor=performance; kernel=6.1.0-18-amd64".
Result<std::string> HostEnvironment();

}  // namespace hone::measure
