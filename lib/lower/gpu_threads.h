// Shared memory and barriers of a GPU's block.
//
// Runs after vthread, which leaves one copy of each place where the block meets, and before the passes that make
// programs large.
//
// HoistShared moves allocations in shared memory right inside the loops over blocks.
//
// PlaceBarriers puts a barrier between two accesses to one shared buffer if one is a write and another thread may touch
// the same element. No barrier is needed if
// - the elements differ for certain: ranges that do not meet for given variables of the loops around both, or different
//   copies of a buffer that has several;
// - both accesses are by the same thread: the index, a sum of multiples of thread indices and loop variables, tells
//   which;
// - both belong to the computation of the buffer's own stage (identity, update).
// Ranges are compared under the conditions around the two accesses that have one value for both. Seen from before a
// loop that has a barrier in every round, only its first round counts; from behind it, only the last.
//
// A barrier is placed as far out as possible: before a loop rather than in it. What one round leaves for the next
// causes one at the loop's head. No barrier is under a condition that differs between threads: loop_nest puts nothing
// there that needs one.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

ir::Stmt HoistShared(const ir::Stmt& body);
// After simplify: indices must be sums.
ir::Stmt PlaceBarriers(const ir::Stmt& body);

}  // namespace hone::lower
