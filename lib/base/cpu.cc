#include "base/cpu.h"

#include <pwd.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"

namespace hone {
namespace {

// The value of the first line "name : value" of /proc/cpuinfo; empty if there is no such line.
std::string CpuInfoField(const std::string& cpuinfo, std::string_view name) {
  for (const std::string& line : Split(cpuinfo, '\n')) {
    size_t colon = line.find(':');
    if (colon == std::string::npos || Trim(std::string_view(line).substr(0, colon)) != name) continue;
    return std::string(Trim(std::string_view(line).substr(colon + 1)));
  }
  return "";
}

// The whole file; empty if the kernel lacks it. Any other failure, such as too many open files, is an error: without
// the answer, this machine would be taken for another one.
Result<std::string> ReadIfThere(const std::string& path) {
  Result<std::string> text = ReadFile(path);
  if (text.status().kind() == StatusKind::kNotFound) return std::string();
  return text;
}

std::string FirstLine(const std::string& path) {
  Result<std::string> text = ReadFile(path);
  return text.ok() ? std::string(Trim(Split(*text, '\n')[0])) : "";
}

// "48K", "2048K", "32M"
int64_t SizeInBytes(const std::string& text) {
  if (text.empty()) return 0;
  int64_t unit = text.back() == 'K' ? 1024 : text.back() == 'M' ? 1024 * 1024 : 1;
  Result<int64_t> number = ParseInt(unit == 1 ? text : text.substr(0, text.size() - 1));
  return number.ok() ? *number * unit : 0;
}

void ReadCaches(CpuInfo* info) {
  for (int i = 0; i < 8; ++i) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    std::string level = FirstLine(folder + "level");
    if (level.empty() || FirstLine(folder + "type") == "Instruction") continue;
    int64_t bytes = SizeInBytes(FirstLine(folder + "size"));
    if (level == "1") info->l1d_bytes = bytes;
    if (level == "2") info->l2_bytes = bytes;
    if (level == "3") info->l3_bytes = bytes;
  }
}

}  // namespace

Result<CpuInfo> DetectCpu() {
  CpuInfo info;
  HONE_ASSIGN_OR_RETURN(const std::string cpuinfo, ReadIfThere("/proc/cpuinfo"));
  info.model = CpuInfoField(cpuinfo, "model name");
  if (info.model.empty()) info.model = "unknown";
  std::string features = CpuInfoField(cpuinfo, "flags");               // x86
  if (features.empty()) features = CpuInfoField(cpuinfo, "Features");  // Arm
  info.features = SplitWords(features);
  std::sort(info.features.begin(), info.features.end());
  info.logical_cores = static_cast<int>(UsableCpus().size());
  ReadCaches(&info);
  HONE_ASSIGN_OR_RETURN(const std::string governor,
                        ReadIfThere("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  info.governor = Trim(governor);
  if (info.governor.empty()) info.governor = "unknown";
  return info;
}

uint64_t MemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(bytes) : 0;
}

std::string KernelRelease() {
  utsname name;
  return ::uname(&name) == 0 ? name.release : "unknown";
}

std::string Hostname() {
  utsname name;
  return ::uname(&name) == 0 ? name.nodename : "unknown";
}

std::string BootId() { return FirstLine("/proc/sys/kernel/random/boot_id"); }

std::vector<int> UsableCpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

std::string UserName() {
  const struct passwd* entry = getpwuid(geteuid());
  return entry ? entry->pw_name : std::to_string(geteuid());
}

}  // namespace hone
