// Convolutions of bytes over blocks of channels (semantics::ProductType).
//
// The stages are "pad" (with padding, or for a plain input, whose pixels become groups of four channels), "acc" and
// "out". Convolutions without groups sum over whole blocks of channels, with weights of 0 beyond the last one, so that
// four channels lie side by side for dot4.
#pragma once

#include "op/operator.h"

namespace hone::op {

Result<Computation> ComputeBytes(const Workload& workload, const Target& target, const Algorithm& algorithm);

}  // namespace hone::op
