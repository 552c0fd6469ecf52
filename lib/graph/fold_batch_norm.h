// Pass: a batch norm whose input is a convolution or dense that nobody else reads goes into that one's weight and bias:
//   weight' = weight * gamma / sqrt(variance + epsilon),  bias' = beta + (bias - mean) * gamma / sqrt(variance +
//   epsilon)
// as derived parameters (InitKind::kFoldWeight, kFoldBias). Any other batch norm of parameters becomes a `mul` and an
// `add` with derived parameters of shape [C,1,..]. Before fuse_epilogue, which needs batch norms gone.
#pragma once

#include "graph/graph.h"

namespace hone::graph {

// True if anything changed. A batch norm whose statistics the network computes itself stays; graph/normalise.h refuses
// it.
bool FoldBatchNorm(Graph* graph);

}  // namespace hone::graph
