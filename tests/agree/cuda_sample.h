// Points drawn from every template for GPUs, compiled by NVRTC with warnings as errors.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace hone::agree {

struct CudaSample {
  int compiled = 0;                   // points, each with the kernel that packs its constants, if it has one
  int packing = 0;                    // of those: points that have one
  std::vector<std::string> failures;  // the point, and what is wrong with it
  std::set<std::string> templates;    // names of those that had a point
  std::set<std::string> archs;        // that points were compiled for
  std::vector<std::string> left_out;  // architectures that no NVRTC here compiles for
  std::string no_nvrtc;               // why there is none; nothing else then
};

// `points` of each template, of the workloads of gpu_workloads.h in turn, for sm_61, sm_70, sm_75, sm_80 and sm_90 in
// turn. One point of a template that has no knobs.
CudaSample DrawCudaSample(int points, uint64_t seed);

}  // namespace hone::agree
