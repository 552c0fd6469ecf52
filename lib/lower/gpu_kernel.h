// The threads of one kernel while loop_nest builds it: the indices that replace bound loops, which threads compute
// what, and the reduction across threads.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "lower/bounds.h"
#include "lower/gpu_places.h"
#include "schedule/schedule.h"

namespace hone::lower {

class GpuKernel {
 public:
  GpuKernel() = default;
  // Uses as many threads along each axis as the largest stage of the kernel needs. Adds their ranges to
  // bounds->analyzer.
  GpuKernel(const Schedule& schedule, const GpuPlaces& places, const Stage& root, Bounds* bounds);

  // Puts `body`, the program of a thread, inside the loops over blocks and threads; blockIdx.x exists even with extent
  // 1.
  Stmt Nest(Stmt body) const;

  // The value of a loop over blocks or threads of that kind in this kernel: a variable, or 0 if the extent is 1.
  Expr IndexOf(ForKind kind) const;

  // Conditions that exclude threads beyond the extents of the stage's own bound loops.
  std::vector<Expr> OwnThreads(const Stage& stage) const;
  // Conditions that select one thread along each axis that the stage is not bound to.
  std::vector<Expr> SingleWriter(const Stage& stage) const;

  // Every thread has `partial[0]`; the threads along the axis that the reduce loop of `stage` is bound to add theirs
  // up. `use` receives the sum (a load, the same for all these threads) and returns the statement that uses it.
  template <typename Use>
  Stmt ReduceAcross(const Stage& stage, ir::Reducer reducer, const Buffer& partial, const Use& use) const {
    Buffer board = Board(stage, partial->type);
    Stmt tree = Tree(stage, reducer, partial, board);
    return ir::MakeAllocate(board, ir::MakeBlock({tree, use(ir::MakeLoad(board, Place(stage, Expr(0))))}));
  }
  // The condition that selects the thread which may store a sum across threads where others see it.
  Expr FirstOfReduction(const Stage& stage) const;

 private:
  struct Index {
    Var var;
    int64_t extent = 1;
  };
  const Index& At(ForKind kind) const {
    return indices_[static_cast<int>(kind) - static_cast<int>(ir::ForKind::kBlockX)];
  }
  Index& At(ForKind kind) { return indices_[static_cast<int>(kind) - static_cast<int>(ir::ForKind::kBlockX)]; }
  const Loop& ReduceLoop(const Stage& stage) const;
  Buffer Board(const Stage& stage, DType type) const;
  // This thread's element of a board, with `along` as the index along the reduction's axis.
  Expr Place(const Stage& stage, const Expr& along) const;
  Stmt Tree(const Stage& stage, ir::Reducer reducer, const Buffer& partial, const Buffer& board) const;

  const Bounds* bounds_ = nullptr;
  Index indices_[6];  // blockIdx.x y z, threadIdx.x y z
};

}  // namespace hone::lower
