// Passes that change a graph so that its kernels do less work, in the order in which Normalise calls them. Each returns
// true if it changed anything.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace hone::graph {

// Forgets all layouts if the graph has another one: transforms become `identity`, and no node states a layout. First,
// so that AssignLayout starts anew. Returns kUnsupported, naming the node, for a graph with groups.
Status SetGraphLayout(Layout layout, Graph* graph);

// Removes nodes that only pass on their input: dropout, identity, and operators whose attributes make them so, such as
// a 1x1 pooling of stride 1 without padding. Their readers read the input. Early, so that other passes see direct
// neighbours. A graph output keeps its name: the node that computes it takes the name over. If that is not possible,
// because it is the graph's input or an output itself, the removed node remains as `identity`.
bool DropIdentity(Graph* graph);

// Removes the taps of convolutions that lie in padding for every output, at the edges of the window: a 3x3 window with
// dilation 36 on 14x14 becomes 1x1. The weight becomes a part of the old one (InitKind::kSlice), so it must be a
// parameter. Exact, as padding is never multiplied, not even by infinite weights (semantics/windows.cc). Precedes the
// folding of batch norms, which then scales fewer weights.
bool DropTapsInPadding(Graph* graph);

// Folds a batch norm whose input is a convolution or dense without other readers into that layer's weight and bias:
//   weight' = weight * gamma / sqrt(variance + epsilon),  bias' = beta + (bias - mean) * gamma / sqrt(variance +
//   epsilon)
// as derived parameters (InitKind::kFoldWeight or, for transposed convolutions, kFoldTransposed, and kFoldBias). Any
// other batch norm of parameters becomes, on four axes, a depthwise convolution of one tap with such a weight and bias;
// else a `mul` and an `add` with such parameters of shape [C,1,..]. A batch norm whose statistics the network computes
// itself stays, and Normalise rejects it.
bool FoldBatchNorm(Graph* graph);

// Moves additions and activations into the epilogue of the convolution or dense that computes their input, so that
// their input is not written just to be read once. Runs after batch norms are gone, which would stand between them.
//
// An addition joins the operand that runs last (the other one exists then, and its buffer is read once); if that is not
// possible, the other operand, which then runs in the addition's place. An epilogue is always `bias, add, activation`,
// each at most once.
bool FuseEpilogue(Graph* graph);

// Removes nodes and parameters that no output needs, which earlier passes leave behind. Keeps inputs: they are a
// contract with the caller.
bool DropDeadCode(Graph* graph);

// Decides how tensors of four or five axes are stored, and inserts transforms where a reader needs another layout than
// the writer gives (`block`, `unblock`; `channels_last`, `channels_first`). By the graph's layout:
//   kBlocked: inputs and outputs of the graph are plain.
//     - Convolutions and pools read and write blocks. A convolution whose plain input has few channels, or is the
//       graph's input, reads it directly (`in=nchw`, `in=ncdhw`).
//     - Element-wise operators keep the layout of their input (`layout=plain` if plain); if their inputs have both
//       layouts, they are blocked.
//     - All others (semantics::Definition::in, out) are plain.
//   kPlain: all tensors are plain. Operators that have a blocked form state `layout=plain`.
//   kChannelsLast: the rules of kBlocked, with channels last instead of blocks (`layout=nhwc`). Inputs and outputs of
//     the graph have channels last as well. `flatten`, and operators without a blocked form that accept channels last,
//     take the layout of their input.
// Parameters have no layout: the library stores them as each reader needs them. Last pass, as it depends on the results
// of the others. Leaves a graph that it has processed unchanged.
bool AssignLayout(Graph* graph);

// Runs all passes, with the graph's own layout or another one. Afterwards op/ has an operator for every node, and
// parameters are derived where passes folded them. Leaves a normalised graph unchanged. Returns kUnsupported, naming
// the node, if no pass could remove it (such as a batch norm that follows no convolution).
Status Normalise(Graph* graph, std::optional<Layout> layout = std::nullopt);

}  // namespace hone::graph
