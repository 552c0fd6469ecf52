// The properties of this machine that times depend on, from /proc and /sys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace hone {

struct CpuInfo {
  std::string model;                  // "Intel(R) Xeon(R) ..."; "unknown" if the kernel does not say
  int logical_cores = 1;              // that this process may use (its affinity mask)
  std::vector<std::string> features;  // the kernel's names ("avx2", "avx512f"), sorted
  int64_t l1d_bytes = 0;              // data caches as cpu0 sees them; 0 if unknown
  int64_t l2_bytes = 0;
  int64_t l3_bytes = 0;
  std::string governor;  // of cpu0: "performance", ...; "unknown" if there is no cpufreq
};

CpuInfo DetectCpu();

// Memory of the machine; 0 if the system does not say.
uint64_t MemoryBytes();

std::string KernelRelease();  // "6.1.0-18-amd64"
std::string Hostname();
std::string BootId();  // changes with every boot; empty if the kernel has none

// The logical cores this process may run on, ascending.
std::vector<int> UsableCpus();

// The calling thread runs on that core alone from now on. kInvalid if it is not usable.
Status PinThisThread(int cpu);

}  // namespace hone
