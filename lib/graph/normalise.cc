#include "graph/normalise.h"

#include "graph/assign_layout.h"
#include "graph/dead_code.h"
#include "graph/drop_identity.h"
#include "graph/fold_batch_norm.h"
#include "graph/fuse_epilogue.h"
#include "semantics/semantics.h"

namespace hone::graph {

Status Normalise(Graph* graph) {
  DropIdentity(graph);
  FoldBatchNorm(graph);
  FuseEpilogue(graph);
  DropDeadCode(graph);
  for (const Node& node : graph->nodes) {
    if (!node.workload.chain() && semantics::DefinitionOf(node.workload).normalises_channels) {
      return Status::Unsupported("node `" + node.name +
                                 "`: a batch norm is supported only with parameters for its four last inputs");
    }
  }
  AssignLayout(graph);
  return CheckGraph(graph);
}

}  // namespace hone::graph
