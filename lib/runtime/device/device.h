// A GPU, or any other device that runs an artifact's launches: one interface for CUDA and OpenCL. Use it from one
// thread at a time.
//
// Work is queued in order; calls that wait say so. After an error that the device cannot recover from (a kernel's
// fault, a lost device), lost() is true and all calls fail: only a new process helps.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "target/artifact.h"
#include "target/device_limits.h"

namespace hone::runtime {

// Facts that need no context.
struct DeviceInfo {
  std::string name;         // "NVIDIA H100", as its driver says
  std::string identity;     // distinguishes devices of the same kind: a UUID, or a platform's name
  std::string driver;       // version
  std::string release;      // of the driver: "550.54.15"; empty if unknown
  int64_t power_watts = 0;  // the power limit, if somebody changed it; 0: the usual one, or unknown
  // The device's part of the machine lock's name (base/lock.h), independent of its number in this process and of the
  // interface: "GPU-<uuid>"; "cpu" if it shares the host's cores or memory.
  std::string lock_name;
  std::string arch;  // cuda: "sm_90"
  DeviceLimits limits;
  int64_t memory_bytes = 0;
  int64_t alignment = 256;  // of parts of a buffer, in bytes
  int64_t cache_bytes = 0;  // the cache that the whole device shares; 0 if unknown or if it is the host's
  double peak_flops = 0;    // for f32 fused multiply-adds at the highest clock; 0 if unknown
};

// "GPU-01020304-0506-0708-090a-0b0c0d0e0f10", as NVIDIA's tools write the 16 bytes; "MIG-.." for a slice of a GPU.
std::string UuidText(const unsigned char* bytes, const std::string& kind = "GPU");

// Device memory, freed by the destructor, or a part of such memory. Aligned to at least 16 bytes.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  int64_t bytes() const { return bytes_; }

 protected:
  explicit DeviceBuffer(int64_t bytes) : bytes_(bytes) {}

 private:
  int64_t bytes_;
};

// One buffer for each argument of an entry point, in order, each at least as large as the argument.
using DeviceArguments = std::vector<DeviceBuffer*>;

// `count` runs of an entry point, which take these lists of arguments in turn.
struct DeviceRuns {
  DeviceRuns(std::initializer_list<DeviceArguments> list) : arguments(list), count(std::ssize(list)) {}
  DeviceRuns(std::vector<DeviceArguments> list, int64_t n) : arguments(std::move(list)), count(n) {}
  const DeviceArguments& operator[](int64_t run) const {
    return arguments[static_cast<size_t>(run) % arguments.size()];
  }

  std::vector<DeviceArguments> arguments;  // empty only if there are no runs
  int64_t count = 0;
};

// A loaded artifact, with the workspaces of its entry points.
class DeviceModule {
 public:
  virtual ~DeviceModule() = default;

  // Queues the launches of the entry point. Returns kInvalid for an unknown entry or arguments that do not fit.
  virtual Status Run(const std::string& symbol, const DeviceArguments& arguments) = 0;

  // Queues the runs, waits, and returns the seconds from the start of the first launch to the end of the last one by
  // the device's own clock. `before` runs first, untimed: while the device is busy with it the rest is queued, so that
  // the device need not wait for the host (CUDA only; OpenCL's queues are left as they are). With CUDA, many launches
  // form graphs, which are cached: asking for the same runs again queues them by few calls.
  virtual Result<double> Time(const std::string& symbol, const DeviceRuns& before, const DeviceRuns& runs) = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;
  bool lost() const { return lost_; }
  // Lost by a fault of its own, such as a memory error, not of what ran on it.
  bool broken() const { return broken_; }
  // Total time of DeviceModule::Time on this device, by the device's clock; that of `before` is estimated from the
  // timed runs.
  double busy_seconds() const { return busy_seconds_; }
  void AddBusy(double seconds) { busy_seconds_ += seconds; }  // called by its modules

  // The content is undefined; 0 bytes are allowed. Returns kIo, with the requested and the available bytes, if memory
  // runs out.
  virtual Result<std::unique_ptr<DeviceBuffer>> Allocate(int64_t bytes) = 0;
  // Bytes first .. first + bytes - 1 of `whole`, which must outlive the part. `first` is a multiple of
  // info().alignment.
  virtual Result<std::unique_ptr<DeviceBuffer>> Part(const DeviceBuffer& whole, int64_t first, int64_t bytes) = 0;
  // Both wait for earlier work. `bytes` must not exceed the buffer's size.
  virtual Status CopyIn(DeviceBuffer* to, const void* from, int64_t bytes) = 0;
  virtual Status CopyOut(void* to, const DeviceBuffer& from, int64_t bytes) = 0;
  // Queues a copy. `bytes` must not exceed the size of either buffer; they may be parts of one, but not overlap.
  virtual Status Copy(DeviceBuffer* to, const DeviceBuffer& from, int64_t bytes) = 0;
  virtual Status Wait() = 0;  // reports failures since the last wait

  // Why the device is slower now than it could be: "power cap (SM clock 1200 of 1980 MHz)", "another program (process
  // 4711, 80 % of the time)". Empty if it says nothing. Takes well below a millisecond.
  virtual std::string Slowed() { return ""; }

  // Returns kInvalid, saying which, if the artifact is not in this device's format, is damaged, or has a kernel that
  // needs more than the device has. The device must outlive the module.
  virtual Result<std::unique_ptr<DeviceModule>> Load(const Artifact& artifact) = 0;

 protected:
  bool lost_ = false, broken_ = false;
  double busy_seconds_ = 0;
};

// The entry point, after checking that the arguments match it; else kInvalid.
Result<const EntryPoint*> CheckArguments(const Artifact& artifact, const std::string& symbol,
                                         const DeviceArguments& arguments);

// Workspaces of each entry point, by its symbol; its launches share them.
using DeviceWorkspaces = std::map<std::string, std::vector<std::unique_ptr<DeviceBuffer>>>;
Result<DeviceWorkspaces> AllocateWorkspaces(const Artifact& artifact, Device* device);

// The buffers that a launch passes to its kernel, in order.
std::vector<const DeviceBuffer*> BuffersOf(const Launch& launch, const DeviceArguments& arguments,
                                           const std::vector<std::unique_ptr<DeviceBuffer>>& workspaces);

// Returns kInvalid if a block of the launch has more threads than the device can run for its kernel.
Status CheckThreads(const Launch& launch, int64_t most);

}  // namespace hone::runtime
