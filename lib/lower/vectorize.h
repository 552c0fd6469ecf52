// Vectorize: loops of kind vectorized become operations on vectors.
//
// After specialize, which made their extents constant, and before unroll, so that it works on one copy of a body. The
// lanes of a vectorized loop run in lock step; that is legal since iterations of a spatial axis are independent
// (schedule/ checks).
//
// - Stores and loads at an index that is linear in the variable become Ramps; others get a vector index (gather,
//   scatter).
// - if_then_else whose condition does not depend on the variable keeps a scalar condition and gets vector branches.
// - With `whole_vectors` (tails on a GPU are conditions), a comparison on which all lanes agree is made only for the
//   first lane: 4*t + lane < n, for example, if 4 divides n.
// - A loop that cannot be vectorized (a condition or an inner extent depends on its variable) becomes serial.
#pragma once

#include "base/result.h"
#include "ir/stmt.h"

namespace hone::lower {

inline constexpr int kMaxLanes = 64;

// kInvalid if a vectorized loop has more than kMaxLanes iterations.
Result<ir::Stmt> VectorizeLoops(const ir::Stmt& body, bool whole_vectors = false);

}  // namespace hone::lower
