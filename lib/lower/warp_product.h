// A product of matrices that the threads of a warp do together: how one is recognised in a loop nest, and the code that
// takes its place. For Tensorize alone, whose header has the form, the conditions and what the code means.
#pragma once

#include <cstdint>
#include <vector>

#include "arith/simplify.h"
#include "base/result.h"
#include "ir/stmt.h"
#include "ir/visitor.h"

namespace hone::lower {

// It begins at 0.
struct ConstantLoop {
  ir::Var var;
  int64_t extent = 0;
};

// The indices of the block that a warp consists of; without extents if there are none.
struct WarpThreads {
  ConstantLoop x, y;
};

// a or b: a load, rounded or not.
struct Factor {
  const ir::Load* load = nullptr;  // null: it is something else
  bool rounded = false;

  static Factor Of(const ir::Expr& e);
  ir::Expr At(const ir::Expr& index) const;  // of the same buffer
};

// Loops that count the rows or the columns of a thread; the values of one of them are taken in pairs.
struct Side {
  std::vector<ConstantLoop> loops;
  size_t pair = 0;    // that one
  int64_t tiles = 0;  // pairs, over all loops

  // Chooses it; false if no loop has an even extent.
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

// Recognises `nest` as such a product; the result refers to the nest. kInvalid with the reason.
Result<WarpProduct> MatchWarpProduct(const ir::Stmt& nest, const WarpThreads& threads);

// The same sums by instructions of the warp. kInvalid if a thread's sums do not lie as one needs them.
// `analyzer`: knows the loops around the nest.
Result<ir::Stmt> WarpProductCode(const WarpProduct& product, const WarpThreads& threads, arith::Analyzer* analyzer);

}  // namespace hone::lower
