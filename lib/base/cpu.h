// The properties of this machine that affect timings, from /proc and /sys, and its names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone {

struct CpuInfo {
  std::string model;                  // "Intel(R) Xeon(R) ..."; "unknown" if the kernel does not say
  int logical_cores = 1;              // in this process's affinity mask
  std::vector<std::string> features;  // the kernel's names ("avx2", "avx512f"), sorted
  int64_t l1d_bytes = 0;              // data caches as cpu0 sees them; 0 if unknown
  int64_t l2_bytes = 0;
  int64_t l3_bytes = 0;
  std::string governor;  // cpu0's: "performance", ...; "unknown" without cpufreq
};

// Returns kIo if the kernel has an answer that cannot be read.
Result<CpuInfo> DetectCpu();

// The machine's memory; 0 if the system does not report it.
uint64_t MemoryBytes();

std::string KernelRelease();  // "6.1.0-18-amd64"
std::string Hostname();
std::string BootId();  // changes with every boot; empty if the kernel has none

// The logical cores that this process may run on, ascending.
std::vector<int> UsableCpus();

std::string UserName();  // of this process; the numeric id if the user has no name

}  // namespace hone
