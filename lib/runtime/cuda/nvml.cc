#include "runtime/cuda/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace hone::runtime {
namespace {

using Gpu = void*;

struct RunningProcess {  // nvmlProcessInfo_v2_t
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct ProcessUse {  // nvmlProcessUtilizationSample_t
  unsigned pid;
  unsigned long long microseconds;  // wall clock
  unsigned sm, memory, encoder, decoder;
};

#define HONE_NVML_FUNCTIONS(X)                                                  \
  X(nvmlInit_v2, ())                                                            \
  X(nvmlDeviceGetHandleByUUID, (const char*, Gpu*))                             \
  X(nvmlSystemGetDriverVersion, (char*, unsigned))                              \
  X(nvmlDeviceGetPowerManagementLimit, (Gpu, unsigned*))                        \
  X(nvmlDeviceGetPowerManagementDefaultLimit, (Gpu, unsigned*))                 \
  X(nvmlDeviceGetCurrentClocksThrottleReasons, (Gpu, unsigned long long*))      \
  X(nvmlDeviceGetClockInfo, (Gpu, int, unsigned*))                              \
  X(nvmlDeviceGetMaxClockInfo, (Gpu, int, unsigned*))                           \
  X(nvmlDeviceGetComputeRunningProcesses_v3, (Gpu, unsigned*, RunningProcess*)) \
  X(nvmlDeviceGetProcessUtilization, (Gpu, ProcessUse*, unsigned*, unsigned long long))

// Functions that this library lacks are null.
struct Functions {
#define HONE_DECLARE(name, parameters) int(*name) parameters = nullptr;
  HONE_NVML_FUNCTIONS(HONE_DECLARE)
#undef HONE_DECLARE
};

constexpr int kOk = 0, kInsufficientSize = 7;  // nvmlReturn_t
constexpr int kSmClock = 1;                    // nvmlClockType_t

// nvmlClocksThrottleReasons. Not among them: an idle GPU, and clocks that somebody set, which last.
constexpr struct {
  unsigned long long bit;
  const char* name;
} kThrottles[] = {{0x04, "power cap"},
                  {0x08, "hardware slowdown"},
                  {0x20, "temperature (software)"},
                  {0x40, "temperature (hardware)"},
                  {0x80, "power brake"}};

// The library averages the use of a process over a part of a second, and reports nothing about idle ones. So ask
// seldom, and take an answer for what happens in the next second.
constexpr double kAskEvery = 0.05, kUseLasts = 1;

// Null if there is no library. Never unloads it.
const Functions* Load() {
  static const Functions* loaded = nullptr;  // not remembered if missing: asking again is cheap
  if (loaded != nullptr) return loaded;
  void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  auto found = std::make_unique<Functions>();
#define FIND(name, parameters) found->name = reinterpret_cast<int(*) parameters>(dlsym(handle, #name));
  HONE_NVML_FUNCTIONS(FIND)
#undef FIND
  if (!found->nvmlInit_v2 || !found->nvmlDeviceGetHandleByUUID || found->nvmlInit_v2() != kOk) return nullptr;
  return loaded = found.release();
}

// The programs of Hone take turns by the machine's lock.
bool TakesTurns(unsigned pid) {
  const Result<std::string> name = ReadFile(fmt::format("/proc/{}/comm", pid));
  return name.ok() && StartsWith(*name, "hone-");
}

class Watch final : public GpuWatch {
 public:
  Watch(const Functions& nvml, Gpu gpu, Clock* clock)
      : nvml_(nvml), gpu_(gpu), clock_(clock), seen_(static_cast<unsigned long long>(1e6 * clock->WallSeconds())) {}

  std::string Release() override {
    char text[96] = "";
    const auto ask = nvml_.nvmlSystemGetDriverVersion;
    return ask != nullptr && ask(text, sizeof text) == kOk ? text : "";
  }

  int64_t ChangedPowerLimit() override {
    const unsigned limit = Number(nvml_.nvmlDeviceGetPowerManagementLimit);
    const unsigned usual = Number(nvml_.nvmlDeviceGetPowerManagementDefaultLimit);
    return usual > 0 && limit != usual ? limit / 1000 : 0;  // they are milliwatts
  }

  std::string Slowed() override {
    const std::string throttled = Throttled();
    return throttled.empty() ? UsedByOthers() : throttled;
  }

 private:
  // 0 if the GPU does not tell it.
  template <typename Ask, typename... Which>
  unsigned Number(Ask ask, Which... which) const {
    unsigned value = 0;
    return ask != nullptr && ask(gpu_, which..., &value) == kOk ? value : 0;
  }

  std::string Throttled() const {
    unsigned long long reasons = 0;
    const auto ask = nvml_.nvmlDeviceGetCurrentClocksThrottleReasons;
    if (ask == nullptr || ask(gpu_, &reasons) != kOk) return "";
    std::vector<std::string> names;
    for (const auto& throttle : kThrottles) {
      if (reasons & throttle.bit) names.emplace_back(throttle.name);
    }
    if (names.empty()) return "";
    return fmt::format("{} (SM clock {} of {} MHz)", Join(names, ", "), Number(nvml_.nvmlDeviceGetClockInfo, kSmClock),
                       Number(nvml_.nvmlDeviceGetMaxClockInfo, kSmClock));
  }

  std::string UsedByOthers() {
    const double now = clock_->NowSeconds();
    if (now < ask_at_) return now < used_until_ ? user_ : "";
    ask_at_ = now + kAskEvery;
    if (!KnowsOwnProcess()) return "";
    const auto ask = nvml_.nvmlDeviceGetProcessUtilization;
    unsigned count = 0;
    if (ask(gpu_, nullptr, &count, seen_) == kInsufficientSize && count > 0) {
      std::vector<ProcessUse> uses(count);
      if (ask(gpu_, uses.data(), &count, seen_) != kOk) count = 0;
      uses.resize(std::min<size_t>(count, uses.size()));
      const unsigned long long since = seen_;
      for (const ProcessUse& use : uses) {
        if (use.microseconds <= since) continue;
        seen_ = std::max(seen_, use.microseconds);
        if (use.sm == 0 || use.pid == static_cast<unsigned>(getpid()) || TakesTurns(use.pid)) continue;
        user_ = fmt::format("another program (process {}, {} % of the time)", use.pid, use.sm);
        used_until_ = now + kUseLasts;
      }
    }
    return now < used_until_ ? user_ : "";
  }

  // In a container the library may number processes otherwise: this one would then look like another one.
  bool KnowsOwnProcess() {
    if (knows_own_) return *knows_own_;
    knows_own_ = false;
    const auto ask = nvml_.nvmlDeviceGetComputeRunningProcesses_v3;
    if (ask == nullptr || nvml_.nvmlDeviceGetProcessUtilization == nullptr) return false;
    std::vector<RunningProcess> running(256);
    auto count = static_cast<unsigned>(running.size());
    if (ask(gpu_, &count, running.data()) != kOk) return false;
    running.resize(std::min<size_t>(count, running.size()));
    knows_own_ = std::ranges::any_of(running, [](const auto& p) { return p.pid == static_cast<unsigned>(getpid()); });
    return *knows_own_;
  }

  const Functions& nvml_;
  Gpu gpu_;
  Clock* clock_;
  unsigned long long seen_;  // time of the newest known use
  double ask_at_ = 0, used_until_ = 0;
  std::string user_;
  std::optional<bool> knows_own_;
};

}  // namespace

std::unique_ptr<GpuWatch> GpuWatch::Open(const std::string& uuid, Clock* clock) {
  const Functions* nvml = Load();
  Gpu gpu = nullptr;
  if (nvml == nullptr || nvml->nvmlDeviceGetHandleByUUID(uuid.c_str(), &gpu) != kOk) return nullptr;
  return std::make_unique<Watch>(*nvml, gpu, clock);
}

}  // namespace hone::runtime
