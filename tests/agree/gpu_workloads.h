// The workloads on which templates for GPUs are checked: by the interpreter and OpenCL (gpu_templates_test), by NVRTC
// (cuda_sample) and on a real device (device/gpu/gpu_check).
#pragma once

#include <string>
#include <vector>

#include "op/operator.h"

namespace hone::agree {

// Small enough for the interpreter. Each template of op::AllTemplates(kGpuFamily) applies to at least one of them on a
// device without limits. They have prime extents, strides, dilation, groups, 1x1, batches of 3, and tails of every
// tile.
std::vector<std::string> SmallGpuWorkloads();

// As large as layers of networks: many blocks, and reductions of many steps.
std::vector<std::string> LargeGpuWorkloads();

// The workloads of SmallGpuWorkloads, canonical, for which the target has this template.
std::vector<Workload> GpuWorkloadsOf(const std::string& template_name, const Target& target);

// The template of that name that the target has for the workload; null without such a template.
const op::Template* FindGpuTemplate(const std::string& name, const Workload& workload, const Target& target);

}  // namespace hone::agree
