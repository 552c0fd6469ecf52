// Points drawn from every template for GPUs, compiled by NVRTC with warnings as errors.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace hone::agree {

struct CudaSample {
  int compiled = 0;                   // programs: a point for an architecture, with the kernel that packs its constants
  int packing = 0;                    // of those: that have such a kernel
  int without_point = 0;              // programs that there could have been, but no legal point was found
  std::vector<std::string> failures;  // the point, and what is wrong with it
  std::map<std::string, std::set<std::string>> archs;  // by template: those that a point of it was compiled for
  std::set<std::string> left_out;                      // architectures that no NVRTC here compiles for
  std::string no_nvrtc;                                // why there is none; nothing else then
  // Of the programs: those whose template estimates registers, within the estimate of them, and with spills.
  int estimated = 0, within = 0, spilled = 0;
};

// `points` of each template, of the workloads of gpu_workloads.h in turn; each for sm_70, sm_80 and sm_90, and for one
// of sm_61 and sm_75 in turn. Where a point is none of an architecture's, or not legal there, another stands for it.
// One point of a template that has no knobs.
CudaSample DrawCudaSample(int points, uint64_t seed);

}  // namespace hone::agree
