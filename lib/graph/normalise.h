// The passes, which change a graph so that its kernels have less to do, in the order in which Normalise calls them.
// Each returns true if anything changed.
#pragma once

#include "base/result.h"
#include "graph/graph.h"

namespace hone::graph {

// Nodes that only pass their input on (dropout, identity, and operators whose attributes make them so: a 1x1 pooling of
// stride 1 without padding) go; their readers read the input. First, so that the other passes see neighbours. An output
// keeps its name: what computes it takes that over. Where that is the graph's input, or an output too, the node stays
// as `identity`.
bool DropIdentity(Graph* graph);

// A batch norm whose input is a convolution or dense that nobody else reads goes into that one's weight and bias:
//   weight' = weight * gamma / sqrt(variance + epsilon),  bias' = beta + (bias - mean) * gamma / sqrt(variance +
//   epsilon)
// as derived parameters (InitKind::kFoldWeight, kFoldBias). Behind a transposed convolution, with a bias added to it or
// not, it goes into that one's weight (kFoldTransposed) and an `add` of a derived bias of shape [C,1,..]. Any other
// batch norm of parameters becomes a `mul` and an `add` with such parameters. A batch norm whose statistics the network
// computes itself stays; Normalise refuses it.
bool FoldBatchNorm(Graph* graph);

// Additions and activations go into the epilogue of the convolution or dense that computes their input, so that no
// tensor is written only to be read once more. Batch norms would stand between them.
//
// An addition joins the operand that runs last (then the other is there already and its buffer is read once), or else
// the other one, which then runs in the addition's place. An epilogue is always `bias, add, activation`, each at most
// once.
bool FuseEpilogue(Graph* graph);

// Nodes and parameters that no output needs go: the passes before leave such. Inputs stay: they are the caller's
// contract.
bool DropDeadCode(Graph* graph);

// Which tensors of four or five axes are stored plain, as callers have them, and which in blocks of channels
// (op/operator.h), with a node `block` or `unblock` where a reader wants another layout than there is:
//   - inputs and outputs of the graph are plain;
//   - convolutions and pooling make blocked tensors from blocked ones; a convolution whose input is plain and has few
//     channels, or is the graph's, reads that itself (`in=nchw`, `in=ncdhw`);
//   - element-wise operators stay as they find their input (`layout=plain` if plain), so that a chain of them changes
//     nothing; if they find both, they are blocked;
//   - all others (semantics::Definition::in, out) are plain.
// Parameters have no layout: the library stores them as each reader wants them. Last: it looks at what the others left.
// A graph that has been through it stays as it is.
bool AssignLayout(Graph* graph);

// All of them. Afterwards every node is a workload that op/ knows, and parameters are derived where passes folded them.
// A graph that is normal already stays as it is. kUnsupported, naming the node, for what no pass could remove (a batch
// norm that follows no convolution).
Status Normalise(Graph* graph);

}  // namespace hone::graph
