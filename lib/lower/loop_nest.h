// Loop nest: statements for every stage, with attached stages in their places.
//
// Second pass: turns the schedule and its bounds into one function. It leaves to later passes: vectorized and unrolled
// loops (as For kinds), extents that are minima over tails (specialize), prefetches (a Pragma "prefetch:<buffer>" whose
// value is the distance in elements; buffers of one function have different names).
//
// - A reduction gives its result's identity first, right outside its outermost reduce loop, then updates.
// - An attached stage's buffer is allocated inside the loop, holds only the region, and is indexed from the region's
//   min.
// - Scope: as the schedule says; by default scratch inside a parallel loop and workspace outside. A buffer that is to
//   be private to a thread (register, scratch) but is used by a parallel loop inside becomes workspace. Registers
//   beyond 16 KiB become scratch.
// - A parallel loop inside a parallel loop becomes serial.
//
// For a GPU (with `places`) each root stage is one kernel, with its loops over blocks and threads around everything
// (even if there is one block). A loop that is bound to threads is the thread's index, in every stage. The result is
// the program of one thread, still without virtual threads (vthread) and barriers (gpu_threads):
// - conditions exclude tails and threads that a stage does not need; they are inside the places where the block must
//   meet (lower/gpu_places.h);
// - if a stage is not bound to some of the block's indices and writes memory that others see, only index 0 computes it;
// - a reduction across threads: each thread reduces its own part, then halves of the threads add up in shared memory;
// - the nest of a stage that is buffered twice has a Pragma "double_buffer"; shared memory is allocated where it is
//   used.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "lower/bounds.h"
#include "schedule/schedule.h"

namespace hone::lower {

inline constexpr char kPrefetchPragma[] = "prefetch:";
inline constexpr char kFarPrefetchPragma[] = "prefetch2:";  // into the second level only
inline constexpr char kDoubleBufferPragma[] = "double_buffer";

// `args`: lower/lower.h. Uses bounds->analyzer to simplify indices.
Result<ir::Function> MakeLoopNest(const schedule::Schedule& schedule, Bounds* bounds,
                                  const std::vector<te::Tensor>& args, const std::string& name,
                                  const GpuPlaces* places = nullptr);

}  // namespace hone::lower
