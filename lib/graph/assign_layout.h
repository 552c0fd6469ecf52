// Pass: where tensors of four dimensions change between plain NCHW, as callers have them, and the blocked form that CPU
// kernels use among themselves (op/operator.h): once at the entry, once at the exit. A convolution of few channels
// reads the plain input itself (`in=nchw`); any other reader gets a node `block` before it, an output a node `unblock`
// behind it. Runs last: it looks at what the others left.
#pragma once

#include "graph/graph.h"

namespace hone::graph {

bool AssignLayout(Graph* graph);

}  // namespace hone::graph
