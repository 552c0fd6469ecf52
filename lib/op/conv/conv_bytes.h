// Convolutions of bytes over blocks of channels (semantics::ProductType).
//
// The stages are "pad" (with padding, or for a plain input), "acc" and "out". Convolutions without groups sum over
// whole blocks of channels, with weights of 0 beyond the last one, so that four channels lie side by side for dot4.
// With a plain input, dot4 takes four taps of a row, with weights of 0 beyond the window; or, if these are more
// products, "pad" makes groups of four channels of the pixels.
#pragma once

#include "op/operator.h"

namespace hone::op {

Result<Computation> ComputeBytes(const Workload& workload, const Target& target, const Algorithm& algorithm);

}  // namespace hone::op
