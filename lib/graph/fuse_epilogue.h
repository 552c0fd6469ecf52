// Pass: additions and activations go into the epilogue of the convolution or dense that computes their input, so that
// no tensor is written only to be read once more. After fold_batch_norm.
//
// An addition joins the operand that runs last (then the other is there already and its buffer is read once), or else
// the other one, which then runs in the addition's place. An epilogue is always `bias, add, activation`, each at most
// once.
#pragma once

#include "graph/graph.h"

namespace hone::graph {

bool FuseEpilogue(Graph* graph);

}  // namespace hone::graph
