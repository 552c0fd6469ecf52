// Threads of a GPU, merged: shared memory belongs to the block, and barriers stand where threads hand over.
//
// After vthread, which leaves one copy of each place where the block meets, and before what makes programs large.
//
// HoistShared: allocations in shared memory move right inside the loops over blocks.
//
// PlaceBarriers: two accesses to one shared buffer need a barrier between them if one is a write and another thread may
// touch the same element. None is needed if the buffers or elements differ for certain (ranges that do not meet, for
// given variables of the loops around both; the two copies of a double buffer, or more of them, if their numbers
// differ), if both accesses are by the same thread (the index, a sum of multiples of the threads' indices and of loop
// variables, says which thread it was), or if both belong to the computation of the buffer's own stage (identity,
// update). Ranges are compared under those conditions around the two accesses that are one value for both. Seen from
// before a loop that has a barrier in every round, only its first round counts, and from behind it only the last.
// A barrier stands as far out as it can: before a loop rather than in it; what one round of a loop leaves for the next
// makes one at the loop's head. Under a condition that differs between threads there is never one: loop_nest puts
// nothing there that needs it.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

ir::Stmt HoistShared(const ir::Stmt& body);
// After simplify: indices must be sums.
ir::Stmt PlaceBarriers(const ir::Stmt& body);

}  // namespace hone::lower
