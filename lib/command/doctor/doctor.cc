#include "command/doctor/doctor.h"

#include <algorithm>

#include "base/clock.h"
#include "base/counted.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "codegen/llvm/codegen.h"
#include "command/common/tool.h"
#include "compile/backend.h"
#include "measure/machine.h"
#include "target/target.h"

namespace hone::command {
namespace {

constexpr double kWatchSeconds = 0.5;
constexpr double kBusy = 0.1, kStolen = 0.02;  // shares of all cores' time

struct Finding {
  std::string subject;  // "cpu", "governor", "sandbox"
  std::string text;
  std::string advice = {};  // what to do; empty if nothing is wrong
};

struct CpuTimes {
  double all = 0, idle = 0, stolen = 0;  // ticks since boot, of all cores
};

// /proc/stat: user nice system idle iowait irq softirq steal ...
Result<CpuTimes> ReadCpuTimes() {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile("/proc/stat"));
  const std::vector<std::string> words = SplitWords(Split(text, '\n').front());
  if (words.size() < 9) return Status::Unsupported("/proc/stat: no times of all cores");
  CpuTimes times;
  for (size_t i = 1; i <= 8; ++i) {
    HONE_ASSIGN_OR_RETURN(const double ticks, ParseDouble(words[i]));
    times.all += ticks;
    if (i == 4 || i == 5) times.idle += ticks;
    if (i == 8) times.stolen = ticks;
  }
  return times;
}

Finding Load() {
  const auto before = ReadCpuTimes();
  RealClock()->SleepSeconds(kWatchSeconds);
  const auto after = ReadCpuTimes();
  if (!before.ok() || !after.ok() || after->all <= before->all) return {"load", "unknown"};
  const double all = after->all - before->all;
  const double stolen = (after->stolen - before->stolen) / all;
  const double busy = std::max(0.0, 1 - (after->idle - before->idle) / all - stolen);
  Finding finding{"load",
                  fmt::format("others use {:.0f} % of the cores, the host takes {:.0f} %", 100 * busy, 100 * stolen)};
  if (busy > kBusy)
    finding.advice = "times are worth little beside other work: end it, or use another machine";
  else if (stolen > kStolen)
    finding.advice = "this is a guest whose host is busy: expect noise, raise [bench] processes";
  return finding;
}

Finding Governor(const CpuInfo& cpu) {
  Finding finding{"governor", cpu.governor};
  if (cpu.governor == "powersave" || cpu.governor == "ondemand" || cpu.governor == "conservative") {
    finding.advice = "set it to `performance` while tuning: clocks follow the load";
  }
  return finding;
}

Finding HugePages() {
  const auto text = ReadFile("/sys/kernel/mm/transparent_hugepage/enabled");
  if (!text.ok()) return {"huge pages", "this kernel has none"};
  const size_t open = text->find('['), close = text->find(']');
  const std::string state =
      open < close && close != std::string::npos ? text->substr(open + 1, close - open - 1) : "unknown";
  Finding finding{"huge pages", state};
  if (state == "never")
    finding.advice = "set `madvise`: libraries ask for huge pages, and large layers gain some percent";
  return finding;
}

// A finding for each layer. With `device`, those of the sandbox that leaves room for a device's driver.
std::vector<Finding> CandidateSandbox(bool device) {
  const std::string subject = device ? "gpu sandbox" : "sandbox";
  const auto layers = TrySandbox(device ? DeviceSandbox() : SandboxOptions());
  if (!layers.ok()) return {{subject, "could not be tried: " + layers.status().message()}};
  std::vector<Finding> findings;
  for (const TriedLayer& layer : *layers) {
    findings.push_back({subject, layer.name + ": " + (layer.holds ? layer.text : "does not hold"), layer.advice});
  }
  return findings;
}

// Without a device, its targets cannot be tuned here. That is not a fault of the machine, so the finding gives the
// reason and no advice.
Finding Device(const std::string& subject, const Result<runtime::DeviceInfo>& info) {
  if (!info.ok()) return {subject, info.status().message()};
  const std::string identity = info->identity.empty() ? "" : ", " + info->identity;
  const std::string release = info->release.empty() ? "" : fmt::format(" ({})", info->release);
  const std::string power = info->power_watts == 0 ? "" : fmt::format(", power limit {} W", info->power_watts);
  return {subject, fmt::format("{}{}, driver {}{}{}", info->name, identity, info->driver, release, power)};
}

// Watches the load for half a second and tries the sandbox.
Result<std::vector<Finding>> Examine() {
  HONE_ASSIGN_OR_RETURN(const CpuInfo cpu, DetectCpu());
  HONE_ASSIGN_OR_RETURN(const Target host, HostTarget());
  std::vector<Finding> findings;
  findings.push_back({"cpu", fmt::format("{}, {}, vectors of {} bytes", cpu.model, Counted(cpu.logical_cores, "core"),
                                         host.vector_bytes)});
  findings.push_back({"caches", fmt::format("{} KiB L1 data, {} KiB L2, {} KiB L3", cpu.l1d_bytes >> 10,
                                            cpu.l2_bytes >> 10, cpu.l3_bytes >> 10)});
  findings.push_back({"kernel", KernelRelease()});
  findings.push_back(Governor(cpu));
  findings.push_back(Load());
  findings.push_back(HugePages());
  for (const bool device : {false, true}) {
    for (Finding& finding : CandidateSandbox(device)) findings.push_back(std::move(finding));
  }
  const std::string cpu_name = codegen::LlvmHostCpu();
  findings.push_back({"compiler", cpu_name.empty() ? codegen::LlvmVersion() + ": only GPUs are tuned for"
                                                   : fmt::format("{}, which calls this CPU {}", codegen::LlvmVersion(),
                                                                 SplitWords(cpu_name).front())});
  for (const compile::Backend* backend : compile::Backends()) {
    Target target{.kind = &backend->kind()};
    const auto version = backend->CompilerVersion("", measure::NewestCode(target));
    if (version.ok() && version->empty()) continue;
    findings.push_back(
        {std::string(backend->kind().name()) + " code", version.ok() ? *version : version.status().message()});
  }
  for (const measure::Machine* machine : measure::Machines()) {
    if (machine->kind().has_device()) findings.push_back(Device(machine->kind().name(), machine->Describe()));
  }
  return findings;
}

}  // namespace

int RunDoctor() {
  const auto findings = Examine();
  if (!findings.ok()) return ExitCodeOf(findings.status());
  std::string text;
  for (const Finding& finding : *findings) {
    text += fmt::format("{:<12}{}\n", finding.subject, finding.text);
    if (!finding.advice.empty()) text += fmt::format("{:<12}! {}\n", "", finding.advice);
  }
  return ExitCodeOf(WriteOut(text));
}

}  // namespace hone::command
