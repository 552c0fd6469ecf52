// Draws points of every template and every rule of sketches for GPUs and compiles them by NVRTC with warnings as
// errors.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace hone::agree {

struct CudaSample {
  int compiled = 0;                   // programs: a point for an architecture, with the kernel that packs its constants
  int packing = 0;                    // those with such a kernel
  int without_point = 0;              // programs skipped because no legal point was found
  std::vector<std::string> failures;  // the point and its problem
  std::map<std::string, std::set<std::string>>
      archs;                       // by template or rule: architectures for which a point was compiled
  std::set<std::string> left_out;  // architectures that no NVRTC on this machine supports
  std::string no_nvrtc;            // why there is no NVRTC; all else is empty then
  // Programs whose registers are estimated; those within the estimate; those with spills.
  int estimated = 0, within = 0, spilled = 0;
};

// `points` of each template or rule, of the workloads of gpu_workloads.h in turn; each for sm_70, sm_80 and sm_90, and
// for one of sm_61 and sm_75 in turn. If a point is missing or illegal on an architecture, another one replaces it. A
// template without knobs has one point.
CudaSample DrawCudaSample(int points, uint64_t seed);

}  // namespace hone::agree
