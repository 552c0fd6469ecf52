// Pass: a batch norm whose input is a convolution or dense that nobody else reads goes into that one's weight and bias:
//   weight' = weight * gamma / sqrt(variance + epsilon),  bias' = beta + (bias - mean) * gamma / sqrt(variance +
//   epsilon)
// as derived parameters (InitKind::kFoldWeight, kFoldBias). Behind a transposed convolution, with a bias added to it or
// not, it goes into that one's weight (kFoldTransposed) and an `add` of a derived bias of shape [C,1,..]. Any other
// batch norm of parameters becomes a `mul` and an `add` with such parameters. Before fuse_epilogue, which needs batch
// norms gone.
#pragma once

#include "graph/graph.h"

namespace hone::graph {

// True if anything changed. A batch norm whose statistics the network computes itself stays; graph/normalise.h refuses
// it.
bool FoldBatchNorm(Graph* graph);

}  // namespace hone::graph
