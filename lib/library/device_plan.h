// The work of a device library and the places of its data: the network's kernels as launches with the places of their
// arguments in the device's memory (runtime/net_device.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/parameters.h"
#include "library/constants.h"
#include "library/kernels.h"
#include "library/network_plan.h"

namespace hone::library {

enum class DeviceMemory : uint32_t { kArena = 0, kConstants = 1, kStaging = 2 };  // HONE_NET_IN_*

struct DevicePlace {
  DeviceMemory memory = DeviceMemory::kArena;
  int64_t offset = 0, bytes = 0;
};

struct DeviceLaunch {
  size_t module = 0;               // whose code: index of the kernel
  const Launch* launch = nullptr;  // of that kernel
  std::vector<DevicePlace> args;   // in the launch's order
};

struct LaunchRange {
  size_t first = 0, count = 0;
};

struct DeviceUpload {
  size_t blob = 0;
  DevicePlace to;
};

// Constants that the device packs when the library is created: uploads first .. first + count - 1, then launches.
struct DevicePacking {
  size_t first_upload = 0, upload_count = 0;
  LaunchRange launches;
};

struct DevicePlan {
  std::vector<ConstantBlob> blobs;     // of the parameter file; equal ones are there once
  std::vector<DeviceLaunch> launches;  // of the nodes, in order; then of the packings
  std::vector<LaunchRange> nodes;      // one a node of the plan
  std::vector<DeviceUpload> uploads;   // of constants as they are; then of the packings
  size_t constant_uploads = 0;         // how many are of the first kind
  std::vector<DevicePacking> packings;
  std::vector<DevicePlace> inputs, outputs;   // of the network
  std::array<int64_t, 3> memory = {0, 0, 0};  // bytes of each DeviceMemory
};

// `kernels` compiled for a device, one a workload of `plan`; they must outlive the result. Constants are packed at run
// time, so nothing runs here, and the parameters are stored as small as they are.
Result<DevicePlan> PlanDevice(const graph::Graph& graph, const NetworkPlan& plan,
                              const std::vector<NetworkKernel>& kernels, const graph::ParameterValues& parameters);

}  // namespace hone::library
