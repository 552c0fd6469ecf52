// Pass: nodes that only pass their input on (dropout, identity, and operators whose attributes make them so: a 1x1
// pooling of stride 1 without padding) go; their readers read the input. First of the passes, so that the others see
// neighbours. An output keeps its name: what computes it takes that over. Where that is the graph's input, or an output
// too, the node stays as `identity`.
#pragma once

#include "graph/graph.h"

namespace hone::graph {

// True if anything changed.
bool DropIdentity(Graph* graph);

}  // namespace hone::graph
