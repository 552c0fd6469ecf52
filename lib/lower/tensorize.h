// Tensorize: makes the threads of a warp compute together the products and sums that each computes for itself.
//
// Runs after simplify and before PlaceBarriers, since threads then read elements that others would have read. It
// handles the hints of `tensorize S axis mma_tf32` (Pragma "tensorize_mma_tf32") around a loop of 8 rounds k of a
// reduction:
//
//   for k < 8 { for r.. { for c.. { s[r, c] = s[r, c] + a[k, r, y] * b[k, c, x] } } }
//
// Conditions: s is private to the thread, and each r and c counts places of s. a and b are loads of memory that is not
// private, or tf32() of such loads. x and y are threadIdx.x and .y, of 4 and of a multiple of 8 threads. a does not
// depend on x or on c.., and b does not depend on y or on r... Then the 4 x 8 threads of a warp have 16 rows (y % 8 and
// two values of r) and 8 columns (x and two values of c) of a product, at any addresses. With the fragments of
// ir::Intrinsic::kMmaTf32 the same sums are, for each pair of r and each pair of c,
//
//   A[0..3] = a for k = x, x + 4 and both r
//   B[0..1] = b for k = x, x + 4 and column y % 8
//   s[r, c] = mma_tf32(A, B, s)
//
// Each thread keeps its sums, so the code around does not change.
#pragma once

#include "base/result.h"
#include "ir/stmt.h"

namespace hone::lower {

inline constexpr char kTensorizeMmaTf32[] = "tensorize_mma_tf32";

// kInvalid, with the reason, for a hint at anything else.
Result<ir::Stmt> Tensorize(const ir::Stmt& body);

}  // namespace hone::lower
