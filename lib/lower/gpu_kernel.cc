#include "lower/gpu_kernel.h"

#include <algorithm>

#include "base/check.h"
#include "ir/printer.h"
#include "te/tensor.h"

namespace hone::lower {

constexpr ForKind kBlocks[] = {ForKind::kBlockX, ForKind::kBlockY, ForKind::kBlockZ};
constexpr ForKind kThreads[] = {ForKind::kThreadX, ForKind::kThreadY, ForKind::kThreadZ};

static int64_t ExtentOf(const Loop& loop) {
  const int64_t* extent = AsIntImm(loop.extent);
  HONE_CHECK(extent != nullptr);
  return *extent;
}

// The extent of `stage` along threads of that kind; 0 if it is not bound to them.
static int64_t ThreadsOf(const Stage& stage, const StageBounds& b, ForKind kind) {
  for (const Loop& loop : b.loops) {
    if (stage.FindAxis(loop.axis)->kind == kind) return ExtentOf(loop);
  }
  return 0;
}

GpuKernel::GpuKernel(const Schedule& schedule, const GpuPlaces& places, const Stage& root, Bounds* bounds)
    : bounds_(bounds) {
  for (const Stage& stage : schedule.stages()) {
    if (stage.attach == AttachKind::kInline || &places.RootOf(stage) != &root) continue;
    for (const Loop& loop : bounds->stages.at(stage.name()).loops) {
      const ForKind kind = stage.FindAxis(loop.axis)->kind;
      if (ir::IsBlockLoop(kind) || ir::IsThreadLoop(kind)) At(kind).extent = std::max(At(kind).extent, ExtentOf(loop));
    }
  }
  for (const auto& kinds : {kBlocks, kThreads}) {
    for (int i = 0; i < 3; ++i) {
      if (At(kinds[i]).extent == 1) continue;
      At(kinds[i]).var = Var(ir::ForKindName(kinds[i]));
      bounds->analyzer.Bind(At(kinds[i]).var, Expr(0), Expr(At(kinds[i]).extent));
    }
  }
}

Stmt GpuKernel::Nest(Stmt body) const {
  for (const auto& kinds : {kThreads, kBlocks}) {
    for (int i = 0; i < 3; ++i) {
      const Index& index = At(kinds[i]);
      if (index.extent == 1 && kinds[i] != ForKind::kBlockX) continue;
      const Var var = index.var.defined() ? index.var : Var(ir::ForKindName(kinds[i]));
      body = ir::MakeFor(var, Expr(0), Expr(index.extent), kinds[i], body);
    }
  }
  return body;
}

Expr GpuKernel::IndexOf(ForKind kind) const { return At(kind).extent == 1 ? Expr(0) : Expr(At(kind).var); }

std::vector<Expr> GpuKernel::OwnThreads(const Stage& stage) const {
  std::vector<Expr> conditions;
  for (ForKind kind : kThreads) {
    const int64_t own = ThreadsOf(stage, bounds_->stages.at(stage.name()), kind);
    if (own > 0 && own < At(kind).extent) conditions.push_back(IndexOf(kind) < Expr(own));
  }
  return conditions;
}

std::vector<Expr> GpuKernel::SingleWriter(const Stage& stage) const {
  std::vector<Expr> conditions;
  for (ForKind kind : kThreads) {
    if (ThreadsOf(stage, bounds_->stages.at(stage.name()), kind) > 0 || At(kind).extent == 1) continue;
    conditions.push_back(IndexOf(kind) < Expr(1));
  }
  return conditions;
}

const Loop& GpuKernel::ReduceLoop(const Stage& stage) const {
  const StageBounds& b = bounds_->stages.at(stage.name());
  auto it = std::find_if(b.loops.begin(), b.loops.end(), [&](const Loop& loop) {
    const Axis& axis = *stage.FindAxis(loop.axis);
    return axis.reduce && ir::IsThreadLoop(axis.kind);
  });
  HONE_CHECK(it != b.loops.end());
  return *it;
}

Expr GpuKernel::FirstOfReduction(const Stage& stage) const {
  return IndexOf(stage.FindAxis(ReduceLoop(stage).axis)->kind) < Expr(1);
}

Buffer GpuKernel::Board(const Stage& stage, DType type) const {
  int64_t size = 1;
  for (ForKind kind : kThreads) size *= At(kind).extent;
  return ir::Buffer::Make(stage.name() + ".board", type, size, ir::Scope::kShared);
}

Expr GpuKernel::Place(const Stage& stage, const Expr& along) const {
  const ForKind axis = stage.FindAxis(ReduceLoop(stage).axis)->kind;
  Expr place = along;  // the reduction's axis fastest, so that neighbours in a sum are neighbours in memory
  int64_t stride = At(axis).extent;
  for (ForKind kind : kThreads) {
    if (kind == axis) continue;
    place = place + IndexOf(kind) * stride;
    stride *= At(kind).extent;
  }
  return place;
}

Stmt GpuKernel::Tree(const Stage& stage, ir::Reducer reducer, const Buffer& partial, const Buffer& board) const {
  const Loop& loop = ReduceLoop(stage);
  const Expr me = IndexOf(stage.FindAxis(loop.axis)->kind);
  const int64_t count = ExtentOf(loop);
  std::vector<Stmt> steps = {ir::MakeStore(board, Place(stage, me), ir::MakeLoad(partial, Expr(0)))};
  int64_t half = 1;
  while (half * 2 < count) half *= 2;
  for (; half >= 1 && count > 1; half /= 2) {
    Expr mine = Place(stage, me);
    Expr other = ir::MakeLoad(board, Place(stage, me + half));
    Stmt add = ir::MakeStore(board, mine, te::CombineReduction(reducer, ir::MakeLoad(board, mine), other));
    Expr active = me < Expr(std::min(half, count - half));
    steps.push_back(ir::MakeIf(active, add));
  }
  return ir::MakeBlock(std::move(steps));
}

}  // namespace hone::lower
