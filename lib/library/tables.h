// The tables of a network library as an object to link: what the network is, and what runs when on which buffers. Those
// of the CPU are in runtime/net_runtime.h, those of devices in runtime/net_device.h.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codegen/elf/data_object.h"
#include "graph/graph.h"
#include "library/constants.h"
#include "library/device_plan.h"
#include "library/kernels.h"
#include "library/network_plan.h"
#include "library/params_file.h"
#include "target/target.h"

namespace hone::library {

struct NetworkTables {
  std::string object;           // defines hone_net_table
  int64_t workspace_bytes = 0;  // what NET_workspace_size() will say
};

Result<NetworkTables> MakeTables(const graph::Graph& graph, const Target& target, const NetworkPlan& plan,
                                 const std::vector<NetworkKernel>& kernels, const Constants& constants,
                                 const ParamsFile& params);

// The features of `target` that its library checks before it runs anything, as LLVM names them; those that cannot be
// checked are left out.
std::vector<std::string> CheckedFeatures(const Target& target);

// Defines hone_net_device_table; the kernels' code is in it. `triple`: of the machine that the library's host code is
// for.
Result<std::string> MakeDeviceTables(const graph::Graph& graph, const Target& target, const NetworkPlan& plan,
                                     const std::vector<NetworkKernel>& kernels, const DevicePlan& device,
                                     const ParamsFile& params, const std::string& triple);

// The common beginning of all tables: HoneNetInfo and what it points to, and which parameters belong to it.
class TableInfo {
 public:
  // Appends all that info points to. REQUIRES: not in the middle of a struct.
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

}  // namespace hone::library
