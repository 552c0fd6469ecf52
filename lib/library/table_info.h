// The common beginning of the tables of all network libraries: HoneNetInfo and what it points to, and which parameters
// belong to it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "codegen/elf/data_object.h"
#include "graph/graph.h"
#include "library/network_plan.h"
#include "library/params_file.h"
#include "target/target.h"

namespace hone::library {

using NamedType = std::pair<std::string, TensorType>;
std::vector<NamedType> InputsOf(const graph::Graph& graph);
std::vector<NamedType> OutputsOf(const graph::Graph& graph);

class TableInfo {
 public:
  // Appends all that info points to. REQUIRES: not in the middle of a struct.
  TableInfo(const graph::Graph& graph, const Target& target, const NetworkPlan& plan, const ParamsFile& params,
            codegen::DataObjectWriter* out);

  // Appends info, the digest and the size of the parameters: the first fields of HoneNetTable and HoneNetDeviceTable.
  void Add(codegen::DataObjectWriter* out) const;

 private:
  int threads_;
  uint32_t inputs_, outputs_, layers_;
  uint64_t inputs_at_, outputs_at_, layers_at_, network_at_, target_at_, digest_at_;
  std::string digest_;
  uint64_t params_bytes_;
};

}  // namespace hone::library
