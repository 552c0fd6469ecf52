// All passes in order: drop_identity, fold_batch_norm, fuse_epilogue, dead_code, assign_layout. Afterwards every node
// is a workload that op/ knows, and parameters are derived where passes folded them.
#pragma once

#include <string>

#include "base/result.h"
#include "graph/graph.h"

namespace hone::graph {

// kUnsupported, naming the node, for what no pass could remove (a batch norm that follows no convolution). A graph that
// is normal already stays as it is.
Status Normalise(Graph* graph);

}  // namespace hone::graph
