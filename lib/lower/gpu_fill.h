// Fill: removes conditions from the inner loops of a tile that crosses the edge of a tensor.
//
// Runs between bounds and loop_nest, on a GPU. If a tile's extent does not divide the tensor's, every stage of the tile
// has guards, and the accumulator's would be tested in the innermost loop. A thread's sums beyond the edge are never
// stored, so they may be computed if that is safe: if everything they read is in shared or private memory, inside the
// buffer, and written before. So the stages they read write zeros beyond the edge (Guard::fill), and the accumulator's
// spatial guards go.
#pragma once

#include "lower/bounds.h"
#include "lower/gpu_places.h"
#include "schedule/schedule.h"

namespace hone::lower {

void FillBeyondEdges(const schedule::Schedule& schedule, const GpuPlaces& places, Bounds* bounds);

}  // namespace hone::lower
