// The plan of a device library: the network's kernels as launches, with the places of their arguments in the device's
// memory (runtime/net_device.h).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
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
  size_t module = 0;               // index of the kernel with the code
  const Launch* launch = nullptr;  // a launch of that kernel
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
  std::vector<ConstantBlob> blobs;     // in the parameter file, where equal ones are stored once
  std::vector<DeviceLaunch> launches;  // of the nodes, in order, then of the packings
  std::vector<LaunchRange> nodes;      // one per node of the plan
  std::vector<DeviceUpload> uploads;   // first constants that need no packing, then sources of packings
  size_t constant_uploads = 0;         // number of the former
  std::vector<DevicePacking> packings;
  std::vector<DevicePlace> inputs, outputs;   // of the network
  std::array<int64_t, 3> memory = {0, 0, 0};  // bytes of each DeviceMemory
};

// `kernels` are compiled for a device, one per workload of `plan`, and must outlive the result. Constants are packed at
// run time, so nothing runs here, and the parameter file stores them unpacked.
Result<DevicePlan> PlanDevice(const graph::Graph& graph, const NetworkPlan& plan,
                              const std::vector<NetworkKernel>& kernels, const graph::ParameterValues& parameters);

}  // namespace hone::library
