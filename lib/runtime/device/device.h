// A GPU, or whatever else runs an artifact's launches: one interface for CUDA and OpenCL. One thread at a time.
//
// Work is queued in order; what waits says so. After an error that the device does not recover from (a fault of a
// kernel, the device gone) lost() is true and everything fails from then on: only a new process helps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/artifact.h"
#include "target/device_limits.h"

namespace hone::runtime {

// Facts that need no context.
struct DeviceInfo {
  std::string name;      // "NVIDIA H100", as its driver says
  std::string identity;  // tells it from others of its kind: a UUID, or a platform's name
  std::string driver;    // version
  // The device itself in the name of the machine's lock (base/lock.h), whatever number this process knows it by and
  // through whichever interface: "GPU-<uuid>"; "cpu" where it shares the host's cores or memory.
  std::string lock_name;
  std::string arch;      // cuda: "sm_90"
  DeviceLimits limits;
  int64_t memory_bytes = 0;
  int64_t cache_bytes = 0;  // the cache that all of it shares; 0 if it cannot be known, or is the host's
  double peak_flops = 0;  // of f32 with fused multiply-adds at the highest clock; 0 if it cannot be known
};

// "GPU-01020304-0506-0708-090a-0b0c0d0e0f10", as NVIDIA's tools write the 16 bytes.
std::string UuidText(const unsigned char* bytes);

// Memory of the device, freed with this. Aligned to 16 bytes at least.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  int64_t bytes() const { return bytes_; }

 protected:
  explicit DeviceBuffer(int64_t bytes) : bytes_(bytes) {}

 private:
  int64_t bytes_;
};

// One buffer an argument of an entry point, in order; each at least as large as the argument.
using DeviceArguments = std::vector<DeviceBuffer*>;

// A loaded artifact, with the workspaces of its entry points.
class DeviceModule {
 public:
  virtual ~DeviceModule() = default;

  // Queues the launches of the entry point. kInvalid: unknown entry, or arguments that do not fit.
  virtual Status Run(const std::string& symbol, const DeviceArguments& arguments) = 0;

  // Queues one run for each of `runs`, waits, and gives the seconds from the start of the first launch to the end of
  // the last one by the device's own clock. `before` may be run first, not timed: while the device does that the rest
  // is queued, and it has no cause to wait for the host (CUDA; OpenCL's queues are left as they are). With CUDA several
  // launches are a graph, which is kept: the same runs, asked for again, are queued by one call.
  virtual Result<double> Time(const std::string& symbol, const std::vector<DeviceArguments>& before,
                              const std::vector<DeviceArguments>& runs) = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;
  bool lost() const { return lost_; }
  // Lost by a fault of its own, such as of its memory, and not of what ran on it.
  bool broken() const { return broken_; }
  // What DeviceModule::Time has had it do so far, `before` included, by its own clock.
  double busy_seconds() const { return busy_seconds_; }
  void AddBusy(double seconds) { busy_seconds_ += seconds; }  // for its modules

  // Content undefined. 0 bytes are allowed. kIo, with the requested and the available bytes, if memory runs out.
  virtual Result<std::unique_ptr<DeviceBuffer>> Allocate(int64_t bytes) = 0;
  // Both wait for earlier work. `bytes` at most the buffer's.
  virtual Status CopyIn(DeviceBuffer* to, const void* from, int64_t bytes) = 0;
  virtual Status CopyOut(void* to, const DeviceBuffer& from, int64_t bytes) = 0;
  // Queues it. `bytes` at most those of either.
  virtual Status Copy(DeviceBuffer* to, const DeviceBuffer& from, int64_t bytes) = 0;
  virtual Status Wait() = 0;  // and reports what has failed since the last time

  // kInvalid: not this device's format, damaged, or a kernel needs more than the device has; the message says which.
  // The device must outlive the module.
  virtual Result<std::unique_ptr<DeviceModule>> Load(const Artifact& artifact) = 0;

 protected:
  bool lost_ = false, broken_ = false;
  double busy_seconds_ = 0;
};

// The entry point, once its arguments are found to be as it says; else kInvalid.
Result<const EntryPoint*> CheckArguments(const Artifact& artifact, const std::string& symbol,
                                         const DeviceArguments& arguments);

// The buffers that the launches of each entry point share, by its symbol.
using DeviceWorkspaces = std::map<std::string, std::vector<std::unique_ptr<DeviceBuffer>>>;
Result<DeviceWorkspaces> AllocateWorkspaces(const Artifact& artifact, Device* device);

// The buffers that a launch passes to its kernel, in order.
std::vector<const DeviceBuffer*> BuffersOf(const Launch& launch, const DeviceArguments& arguments,
                                           const std::vector<std::unique_ptr<DeviceBuffer>>& workspaces);

// kInvalid if the launch has more threads in a block than the device runs of its kernel.
Status CheckThreads(const Launch& launch, int64_t most);

}  // namespace hone::runtime
