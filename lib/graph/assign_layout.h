// Pass: which tensors of four or five axes are stored plain, as callers have them, and which in blocks of channels
// (op/operator.h), with a node `block` or `unblock` where a reader wants another layout than there is:
//   - inputs and outputs of the graph are plain;
//   - convolutions and pooling make blocked tensors from blocked ones; a convolution whose input is plain and has few
//     channels, or is the graph's, reads that itself (`in=nchw`, `in=ncdhw`);
//   - element-wise operators stay as they find their input (`layout=plain` if plain), so that a chain of them changes
//     nothing; if they find both, they are blocked;
//   - all others (semantics::Definition::in, out) are plain.
// Parameters have no layout: the library stores them as each reader wants them. Runs last: it looks at what the others
// left. A graph that has been through it stays as it is.
#pragma once

#include "graph/graph.h"

namespace hone::graph {

// True if anything changed.
bool AssignLayout(Graph* graph);

}  // namespace hone::graph
