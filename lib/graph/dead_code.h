// Pass: nodes and parameters that no output needs go. Inputs stay: they are the caller's contract. Last of the passes
// but layout: the others leave such remains.
#pragma once

#include "graph/graph.h"

namespace hone::graph {

bool DropDeadCode(Graph* graph);

}  // namespace hone::graph
