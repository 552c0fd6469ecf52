// Machine: what candidates of a target run on and are timed on: this host, or a device. One object a back end.
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

  // Describes the device without opening it; takes milliseconds. kNotFound: no device; the message says what is missing
  // and what to do.
  virtual Result<runtime::DeviceInfo> Describe() const = 0;
  // kUnsupported if the device cannot run the target's code.
  virtual Status CheckRuns(const Target&, const runtime::DeviceInfo&) const { return Status(); }
  // The properties that times depend on, for fingerprints: "cuda=<name>; id=GPU-<uuid>; driver=CUDA 12.4".
  virtual std::string Environment(const runtime::DeviceInfo& info) const;
  // The name of the machine's lock (DeviceInfo::lock_name) where Describe failed with `why`; the failure itself if it
  // is unknown which lock that would be.
  virtual Result<std::string> LockWithout(const Status& why) const = 0;
  // The limits of this device, for a target file.
  virtual DeviceLimits TargetLimits(const runtime::DeviceInfo& info) const { return info.limits; }
  // CompileOptions::newest_cuda: the newest major version of generated code that the driver here loads. 0: any. Where a
  // library will run instead cannot be known (doc/internals/gpu.md).
  virtual int NewestCode() const { return 0; }

  // kUnsupported: this machine is no device.
  virtual Result<std::unique_ptr<runtime::Device>> Open() const = 0;
  // For the measuring child: gives up the rights that candidates must not have, then opens the device.
  virtual Result<std::unique_ptr<CandidateRunner>> MakeRunner(const TaskSetup& setup, const Target& target) const;
};

#define HONE_BACKEND(folder, Name) const Machine& Name##Machine();
#include "target/backends.def"
#undef HONE_BACKEND

// Every machine, whether it is here or not.
const std::vector<const Machine*>& Machines();
// A test's, before any other thread runs.
void AddMachine(const Machine* machine);
// kUnsupported if nothing can run this kind of target.
Result<const Machine*> FindMachine(const Target& target);

// FindMachine, Describe and CheckRuns in one.
Result<runtime::DeviceInfo> DescribeMachine(const Target& target);
// FindMachine, DescribeMachine and Open in one.
Result<std::unique_ptr<runtime::Device>> OpenDevice(const Target& target);
// Machine::NewestCode of the target's; 0 without one.
int NewestCode(const Target& target);
// This host: "cpu=<model>; cores=2; governor=performance; kernel=6.1.0-18-amd64".
std::string HostEnvironment();

}  // namespace hone::measure
