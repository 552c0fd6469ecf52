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
  GpuKernel(const schedule::Schedule& schedule, const GpuPlaces& places, const schedule::Stage& root, Bounds* bounds);

  // Puts `body`, the program of a thread, inside the loops over blocks and threads; blockIdx.x exists even with extent
  // 1.
  ir::Stmt Nest(ir::Stmt body) const;

  // The value of a loop over blocks or threads of that kind in this kernel: a variable, or 0 if the extent is 1.
  ir::Expr IndexOf(ir::ForKind kind) const;

  // Conditions that exclude threads beyond the extents of the stage's own bound loops.
  std::vector<ir::Expr> OwnThreads(const schedule::Stage& stage) const;
  // Conditions that select one thread along each axis that the stage is not bound to.
  std::vector<ir::Expr> SingleWriter(const schedule::Stage& stage) const;

  // Every thread has `partial[0]`; the threads along the axis that the reduce loop of `stage` is bound to add theirs
  // up. `use` receives the sum (a load, the same for all these threads) and returns the statement that uses it.
  template <typename Use>
  ir::Stmt ReduceAcross(const schedule::Stage& stage, ir::Reducer reducer, const ir::Buffer& partial,
                        const Use& use) const {
    ir::Buffer board = Board(stage, partial->type);
    ir::Stmt tree = Tree(stage, reducer, partial, board);
    return ir::MakeAllocate(board, ir::MakeBlock({tree, use(ir::MakeLoad(board, Place(stage, ir::Expr(0))))}));
  }
  // The condition that selects the thread which may store a sum across threads where others see it.
  ir::Expr FirstOfReduction(const schedule::Stage& stage) const;

 private:
  struct Index {
    ir::Var var;
    int64_t extent = 1;
  };
  const Index& At(ir::ForKind kind) const {
    return indices_[static_cast<int>(kind) - static_cast<int>(ir::ForKind::kBlockX)];
  }
  Index& At(ir::ForKind kind) { return indices_[static_cast<int>(kind) - static_cast<int>(ir::ForKind::kBlockX)]; }
  const Loop& ReduceLoop(const schedule::Stage& stage) const;
  ir::Buffer Board(const schedule::Stage& stage, DType type) const;
  // This thread's element of a board, with `along` as the index along the reduction's axis.
  ir::Expr Place(const schedule::Stage& stage, const ir::Expr& along) const;
  ir::Stmt Tree(const schedule::Stage& stage, ir::Reducer reducer, const ir::Buffer& partial,
                const ir::Buffer& board) const;

  const Bounds* bounds_ = nullptr;
  Index indices_[6];  // blockIdx.x y z, threadIdx.x y z
};

}  // namespace hone::lower
