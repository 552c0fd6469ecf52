// A product of matrices that the threads of a warp compute together: how it is recognised in a loop nest, and the code
// that replaces it. Only for Tensorize, whose file defines the form, the conditions and the meaning of the code.
#pragma once

#include <cstdint>
#include <vector>

#include "arith/simplify.h"
#include "base/result.h"
#include "ir/stmt.h"
#include "ir/visitor.h"

namespace hone::lower {

// A loop that begins at 0.
struct ConstantLoop {
  ir::Var var;
  int64_t extent = 0;
};

// The indices of the threads of a warp in its block; without extents if the block has no warps.
struct WarpThreads {
  ConstantLoop x, y;
};

// a or b: a load, rounded or not.
struct Factor {
  const ir::Load* load = nullptr;  // null for other expressions
  bool rounded = false;

  static Factor Of(const ir::Expr& e);
  ir::Expr At(const ir::Expr& index) const;  // a load of the same buffer
};

// Loops that count the rows or the columns of a thread; the values of one of them are taken in pairs.
struct Side {
  std::vector<ConstantLoop> loops;
  size_t pair = 0;    // index of that loop
  int64_t tiles = 0;  // pairs, over all loops

  // Chooses the paired loop; false if no loop has an even extent.
  bool FindPair();
  // The loops' variables in tile `tile`, in its first or second half.
  void Set(int64_t tile, int64_t half, ir::VarMap* to) const;
};

// store: s[r, c] = s[r, c] + a[k, r, y] * b[k, c, x], for all k, r and c.
struct WarpProduct {
  const ir::Store* store = nullptr;
  Factor a, b;
  ConstantLoop depth;  // k
  Side rows, columns;
};

// Recognises `nest` as such a product; the result refers to the nest. Returns kInvalid with the reason.
Result<WarpProduct> MatchWarpProduct(const ir::Stmt& nest, const WarpThreads& threads);

// The same sums by instructions of the warp. Returns kInvalid if a thread's sums are not in the places that one needs.
// `analyzer` knows the loops around the nest.
Result<ir::Stmt> WarpProductCode(const WarpProduct& product, const WarpThreads& threads, arith::Analyzer* analyzer);

}  // namespace hone::lower
