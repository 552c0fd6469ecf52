// Fill: conditions leave the inner loops of a tile that hangs over the edge.
//
// Between bounds and loop_nest, on a GPU. Where a tile's extent does not divide a tensor's, every stage of it has
// guards: the accumulator's would be tested in the innermost loop. Sums of a thread beyond the edge are never stored,
// so it may as well be computed, if that is safe: if everything it reads is in shared or private memory, inside the
// buffer and written before. So the stages it reads write zeros beyond the edge (Guard::fill), and its own spatial
// guards go.
#pragma once

#include "lower/bounds.h"
#include "lower/gpu_places.h"
#include "schedule/schedule.h"

namespace hone::lower {

void FillBeyondEdges(const schedule::Schedule& schedule, const GpuPlaces& places, Bounds* bounds);

}  // namespace hone::lower
