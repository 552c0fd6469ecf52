// The workloads on which templates and sketches for GPUs are checked: by the interpreter and OpenCL
// (gpu_templates_test), by NVRTC (cuda_sample) and on a real device (device/gpu/gpu_check).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "op/operator.h"
#include "search/space/gpu_use.h"

namespace hone::agree {

// Small enough for the interpreter. Each source of GpuSourceNames applies to at least one of them on a device without
// limits. They have prime extents, strides, dilation, groups, 1x1, batches of 3, and tails of every
// tile.
std::vector<std::string> SmallGpuWorkloads();

// As large as layers of networks: many blocks, and reductions of many steps.
std::vector<std::string> LargeGpuWorkloads();

// A template or a rule of sketches for a workload, whether its tasks use the sketch or not.
struct GpuSource {
  std::string name;
  search::Space space;
  std::function<Result<Config>()> preferred;  // the default; only sources that can come first always have one
  std::function<Result<Candidate>(const Config&)> candidate;
  search::GpuUseOf use;  // null if the resources are not estimated
};
std::vector<GpuSource> GpuSourcesOf(const Workload& workload, const Target& target);
// The names of all templates and rules for GPUs.
std::vector<std::string> GpuSourceNames();
// Empty if the source does not apply to the workload on the target.
std::optional<GpuSource> FindGpuSource(const std::string& name, const Workload& workload, const Target& target);

// The workloads of SmallGpuWorkloads, canonical, for which the target has the source of this name.
std::vector<Workload> GpuWorkloadsOf(const std::string& source, const Target& target);

}  // namespace hone::agree
