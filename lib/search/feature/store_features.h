// Store features: a point as numbers, one row for each buffer that its loops write. The columns are the 164 of Ansor
// (auto_scheduler), computed from the same program as those of loop_features.h. They mean the same for all schedules,
// templates and shapes, so that one model can learn from all.
//
// Loops of length 1 are left out. The last store to a buffer describes it, but operations of all stores to it count.
// Counts are log2(1 + x). Columns of a row, with their number:
//   16 operations of the stored value and its indices times the product of all loops around the store: for floats
//      multiply-adds, additions, multiplications, divisions, comparisons, functions, others; the same for integers;
//      logical operations; selections
//   33 for vectorized, unrolled and parallel loops each: how many, product of their lengths, length of the innermost,
//      and its position, one-hot: inner, middle, outer loop over elements of the buffer, the same for reductions,
//      several loops of both kinds, no loop
//    8 whether it is a kernel for a GPU, then the lengths of block x y z, thread x y z and vthread loops
//   90 18 for each of 5 buffers that the store accesses, those with most cache lines first: read, write or both; bytes
//      moved, different bytes, lines, different lines; reuse by a loop, by another store, or no reuse; iterations and
//      bytes between two uses; number of uses; the four amounts divided by it (without reuse: doubled); stride
//   10 arithmetic intensity (operations a byte) at ten equal steps of the operations, interpolated between the loops
//    4 the buffer's bytes where the function allocates it, times the loops outside of the allocation; the product of
//      these loops, and of those between allocation and store
//    3 product and number of the loops around the store, auto_unroll_max_step
//
// Differences from Ansor, where its extraction has defects: multiply-adds are found; positions are those of loops; the
// loops that an access does not depend on divide its lines by their own lengths; a contiguous run may have several
// whole dimensions.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/stmt.h"

namespace hone::search {

inline constexpr size_t kStoreColumns = 164;

// The rows one after another, in the order in which the buffers are first written.
std::vector<float> StoreFeatures(const ir::Function& function);

}  // namespace hone::search
