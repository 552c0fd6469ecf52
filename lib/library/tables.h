// The tables of a network library as an object to link: the network's description, and what runs when on which buffers.
// runtime/net_runtime.h defines those of the CPU, runtime/net_device.h those of devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/elf/data_object.h"
#include "graph/graph.h"
#include "library/constants.h"
#include "library/device_plan.h"
#include "library/kernels.h"
#include "library/network_plan.h"
#include "library/params_file.h"
#include "library/runtime/net_runtime.h"
#include "target/target.h"

namespace hone::library {

struct NetworkTables {
  std::string object;           // defines hone_net_table
  int64_t workspace_bytes = 0;  // the value of NET_workspace_size()
};

Result<NetworkTables> MakeTables(const graph::Graph& graph, const Target& target, const NetworkPlan& plan,
                                 const std::vector<NetworkKernel>& kernels, const Constants& constants,
                                 const ParamsFile& params);

// The features of `target` that its library checks before it runs, as LLVM names them, without those that it cannot
// check.
std::vector<std::string> CheckedFeatures(const Target& target);

// Defines hone_net_device_table, including the kernels' code. `triple` is for the library's host code.
Result<std::string> MakeDeviceTables(const graph::Graph& graph, const Target& target, const NetworkPlan& plan,
                                     const std::vector<NetworkKernel>& kernels, const DevicePlan& device,
                                     const ParamsFile& params, const std::string& triple);

// The common beginning of all tables: HoneNetInfo with its data, and the identity of its parameter file.
class TableInfo {
 public:
  // Appends all data that info points to. REQUIRES: not in the middle of a struct.
  TableInfo(const graph::Graph& graph, const Target& target, const NetworkPlan& plan, const ParamsFile& params,
            codegen::DataObjectWriter* out);

  // Appends info, the digest and the size of the parameters: the first fields of HoneNetTable and HoneNetDeviceTable.
  void Add(codegen::DataObjectWriter* out) const;

 private:
  uint32_t threads_, inputs_, outputs_, layers_;
  codegen::DataObjectWriter::To inputs_at_, outputs_at_, layers_at_, network_at_, target_at_, digest_at_;
  std::string digest_;
  uint64_t params_bytes_;
};

// Where LLVM's feature name shows: x86-64's bit of cpuid (Intel SDM, vol. 2A, CPUID; vol. 1, 13.3 for the state bits),
// or AArch64's HWCAP bit. Null if the name is unknown; the feature is then not checked.
const HoneNetFeature* FindCpuFeature(const Target& target, const std::string& name);

}  // namespace hone::library
