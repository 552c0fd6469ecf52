#include "lower/bounds.h"

#include <algorithm>

#include "arith/interval.h"
#include "arith/linear.h"
#include "base/check.h"
#include "ir/walk.h"
#include "schedule/relation.h"

namespace hone::lower {
namespace {

using arith::Interval;
using schedule::Relation;

constexpr int64_t kMostBeyond = 4;  // times the part inside

// Extents and values of one stage's axes, from the region it computes. schedule/relation.h has the equations.
class AxisSolver {
 public:
  AxisSolver(const Stage& stage, bool uniform, arith::Analyzer* analyzer, StageBounds* out)
      : stage_(stage), uniform_(uniform), analyzer_(*analyzer), out_(*out) {
    for (const Relation& r : stage.relations) {
      if (r.kind == Relation::Kind::kSplit) {
        made_by_[r.split.outer] = made_by_[r.split.inner] = &r;
        taken_by_[r.split.parent] = &r;
      } else {
        made_by_[r.fuse.fused] = &r;
        taken_by_[r.fuse.outer] = taken_by_[r.fuse.inner] = &r;
      }
    }
  }

  void Solve() {
    const te::TensorNode& node = *stage_.tensor.node();
    for (const std::string& leaf : stage_.leaf) vars_[leaf] = Var(leaf);
    for (size_t i = 0; i < node.axes.size(); ++i) root_extent_[node.axes[i].var.name()] = out_.extent[i];
    for (size_t i = 0; i < out_.box.size(); ++i) box_[node.axes[i].var.name()] = out_.box[i];
    for (const ir::IterVar& r : node.reduce_axes) root_extent_[r.var.name()] = Expr(r.extent);
    for (const std::string& leaf : stage_.leaf) {
      Expr extent = Extent(leaf);
      out_.loops.push_back({leaf, vars_[leaf], extent});
      analyzer_.Bind(vars_[leaf], Expr(0), extent);
    }
    for (size_t i = 0; i < node.axes.size(); ++i) {
      Expr value = Value(node.axes[i].var.name());
      out_.values[node.axes[i].var.node()] = analyzer_.Simplify(out_.min[i] + value);
    }
    for (const ir::IterVar& r : node.reduce_axes) out_.values[r.var.node()] = analyzer_.Simplify(Value(r.var.name()));
  }

  // The extent of `axis`. Loops outside it must be solved first; stage.leaf has that order.
  Expr Extent(const std::string& axis) {
    auto it = extent_.find(axis);
    if (it != extent_.end()) return it->second;
    Expr extent = MakeExtent(axis);
    extent_[axis] = extent;
    return extent;
  }

  Expr Value(const std::string& axis) {
    auto it = taken_by_.find(axis);
    if (it == taken_by_.end()) return vars_.at(axis);
    const Relation& r = *it->second;
    if (r.kind == Relation::Kind::kSplit) return Value(r.split.outer) * r.split.factor + Value(r.split.inner);
    Expr fused = Value(r.fuse.fused), inner = Extent(r.fuse.inner);
    if (const int64_t* outer = AsIntImm(Extent(r.fuse.outer)); uniform_ && outer && *outer == 1) {
      // Guards, which the analyzer does not see, exclude iterations beyond the last value of the fused axis.
      return axis == r.fuse.outer ? Expr(0) : fused;
    }
    return axis == r.fuse.outer ? fused / inner : fused % inner;
  }

  // The range of `axis` while the loops outside `position` are fixed and the others run.
  Interval Run(const std::string& axis, int position) {
    std::vector<std::string> leaves = schedule::LeavesOf(stage_, axis);
    auto fixed = [&](const std::string& leaf) { return schedule::LeafPosition(stage_, leaf) <= position; };
    if (std::ranges::all_of(leaves, fixed)) {
      Expr value = Value(axis);
      return {value, value};
    }
    Interval whole = {Expr(0), Extent(axis) - 1};
    if (std::ranges::none_of(leaves, fixed)) return whole;
    const Relation& r = *taken_by_.at(axis);
    if (r.kind == Relation::Kind::kFuse) {
      if (axis == r.fuse.inner) return whole;
      Interval fused = Run(r.fuse.fused, position);
      Expr inner = Extent(r.fuse.inner);
      return {fused.min / inner, Clip(fused.max / inner, whole.max)};
    }
    Interval outer = Run(r.split.outer, position), inner = Run(r.split.inner, position);
    return {outer.min * r.split.factor + inner.min, Clip(outer.max * r.split.factor + inner.max, whole.max)};
  }

  // An upper bound of an extent: shapes and factors bound all of them.
  int64_t UpperBound(const Expr& e) {
    std::optional<int64_t> bound = analyzer_.ConstUpperBound(e);
    HONE_CHECK(bound.has_value());
    return *bound;
  }

 private:
  Expr Clip(const Expr& hi, const Expr& limit) { return analyzer_.CanProve(hi <= limit) ? hi : Min(hi, limit); }

  void AddGuard(const std::string& axis, const Expr& extent, bool edge = false) {
    int position = -1;
    for (const std::string& leaf : schedule::LeavesOf(stage_, axis)) {
      position = std::max(position, schedule::LeafPosition(stage_, leaf));
    }
    guarded_.push_back({axis, extent, position, edge});
  }

  Expr MakeExtent(const std::string& axis) {
    auto it = made_by_.find(axis);
    if (it == made_by_.end()) {
      Expr extent = root_extent_.at(axis);
      if (auto box = box_.find(axis); box != box_.end()) {
        const int64_t* whole = AsIntImm(extent);
        if (!whole || *whole < box->second) AddGuard(axis, extent, /*edge=*/true);
        return Expr(box->second);
      }
      if (AsIntImm(extent) || !(uniform_ || schedule::EndsInFuse(stage_, axis))) return extent;
      // Division by a varying extent would undo the fusion: use the largest extent and a guard.
      AddGuard(axis, extent, /*edge=*/true);
      return Expr(UpperBound(extent));
    }
    const Relation& r = *it->second;
    if (r.kind == Relation::Kind::kFuse) return analyzer_.Simplify(Extent(r.fuse.outer) * Extent(r.fuse.inner));
    Expr parent = Extent(r.split.parent);
    const int64_t factor = r.split.factor;
    if (axis == r.split.outer) return analyzer_.Simplify((parent + (factor - 1)) / factor);
    if (const int64_t* whole = AsIntImm(parent)) {
      if (*whole % factor == 0) return Expr(factor);
      if (*whole < factor) return parent;
    }
    if (!uniform_ && !schedule::EndsInFuse(stage_, axis) && OuterFirst(r.split.outer, axis)) {
      return analyzer_.Simplify(Min(Expr(factor), parent - Value(r.split.outer) * factor));
    }
    AddGuard(r.split.parent, parent);
    return Expr(factor);
  }

  bool OuterFirst(const std::string& outer, const std::string& inner) {
    int last = -1, first = static_cast<int>(stage_.leaf.size());
    for (const std::string& leaf : schedule::LeavesOf(stage_, outer))
      last = std::max(last, schedule::LeafPosition(stage_, leaf));
    for (const std::string& leaf : schedule::LeavesOf(stage_, inner))
      first = std::min(first, schedule::LeafPosition(stage_, leaf));
    return last < first;
  }

 public:
  struct Guarded {
    std::string axis;
    Expr extent;
    int position;
    bool edge;
  };

  // After Solve(): the guards with their conditions.
  void WriteGuards() {
    for (const auto& g : guarded_) {
      if (uniform_ && FollowsFromParent(g.axis)) continue;
      const int64_t* reach = AsIntImm(extent_.at(g.axis));
      for (const Expr& extent : uniform_ ? Alternatives(g.extent) : std::vector<Expr>{g.extent}) {
        Expr condition = analyzer_.Simplify(Value(g.axis) < extent);
        if (const int64_t* known = AsIntImm(condition); uniform_ && known && *known) continue;
        // Other guards, which the analyzer does not see, keep the axis below its loops' extent.
        const Expr simple = analyzer_.Simplify(extent);
        if (const int64_t* most = AsIntImm(simple); g.edge && reach && most && *reach <= *most) continue;
        out_.guards.push_back({condition, g.position, stage_.FindAxis(g.axis)->reduce, g.edge});
      }
    }
  }

  // Whether the axis is the outer part of a guarded one: values that pass that guard are in range here as well.
  bool FollowsFromParent(const std::string& axis) const {
    auto it = made_by_.find(axis);
    if (it == made_by_.end() || it->second->kind != Relation::Kind::kSplit) return false;
    const schedule::SplitRelation& split = it->second->split;
    auto is_parent = [&](const Guarded& g) { return g.axis == split.parent && !g.edge; };
    return split.outer == axis && (std::ranges::any_of(guarded_, is_parent) || FollowsFromParent(split.parent));
  }

  // Expressions that are all above a value if and only if `e` is: min(a, b) - c gives two, which are often simple.
  static std::vector<Expr> Alternatives(const Expr& e) {
    const arith::Linear linear = arith::ToLinear(e);
    for (const arith::Linear::Term& term : linear.terms) {
      const auto* op = term.term.as<ir::Binary>();
      const bool least = op && op->kind == ir::ExprKind::kMin && term.coefficient > 0;
      if (!least && !(op && op->kind == ir::ExprKind::kMax && term.coefficient < 0)) continue;
      std::vector<Expr> all;
      for (const Expr& side : {op->a, op->b}) {
        for (const Expr& x : Alternatives(e + (side - term.term) * term.coefficient)) all.push_back(x);
      }
      return all;
    }
    return {e};
  }

 private:
  const Stage& stage_;
  const bool uniform_;  // all extents must be constant
  arith::Analyzer& analyzer_;
  StageBounds& out_;
  std::map<std::string, const Relation*> made_by_, taken_by_;
  std::map<std::string, Var> vars_;
  std::map<std::string, Expr> root_extent_, extent_;
  std::map<std::string, int64_t> box_;
  std::vector<Guarded> guarded_;
};

// Reads of one tensor in a body.
std::vector<const ir::Access*> AccessesOf(const std::string& tensor, const Expr& body) {
  std::vector<const ir::Access*> found;
  const auto add = [&](const ir::Access& op) {
    if (op.tensor->name == tensor) found.push_back(&op);
  };
  ir::Walk(body, ir::Overloaded{add, [](const auto&) {}});
  return found;
}

class Inferrer {
 public:
  Inferrer(const Schedule& schedule, const GpuPlaces* places, Bounds* bounds)
      : schedule_(schedule), places_(places), bounds_(*bounds) {}

  void Run() {
    const std::vector<Stage>& stages = schedule_.stages();
    for (size_t i = stages.size(); i-- > 0;) {
      if (stages[i].attach != AttachKind::kInline) InferStage(stages[i]);
    }
  }

 private:
  void InferStage(const Stage& stage) {
    StageBounds& b = bounds_.stages[stage.name()];
    if (stage.attach == AttachKind::kAt) {
      InferRegion(stage, &b);
    } else {
      for (int64_t e : stage.tensor.shape()) {
        b.min.push_back(Expr(0));
        b.extent.push_back(Expr(e));
      }
    }
    auto [it, fresh] = solvers_.try_emplace(stage.name(), stage, places_ != nullptr, &bounds_.analyzer, &b);
    HONE_CHECK(fresh);
    AxisSolver& solver = it->second;
    solver.Solve();
    solver.WriteGuards();
    for (size_t i = 0; i < b.extent.size(); ++i) {
      const int64_t whole = stage.tensor.shape()[i];
      b.size.push_back(std::clamp<int64_t>(bounds_.analyzer.ConstUpperBound(b.extent[i]).value_or(whole), 0, whole));
      if (!b.box.empty()) b.size.back() = b.box[i];
    }
  }

  // The loops around the body of `reader` that run for one computation of `stage`, outermost first, and te's axes of
  // the reader over these loops.
  std::vector<arith::RunningVar> Running(const Stage& reader, const Stage& stage) {
    std::vector<arith::RunningVar> running;
    if (places_ && places_->ScopeOf(stage) == ir::Scope::kShared) {
      for (const auto& [consumer, axis] : places_->ThreadLoopsAround(stage)) {
        const Loop& loop = bounds_.stages.at(consumer->name()).loops[schedule::LeafPosition(*consumer, axis)];
        running.push_back({loop.var, {Expr(0), loop.extent - 1}});
      }
    }
    AddLoops(reader, stage, &running);
    const te::TensorNode& node = *reader.tensor.node();
    const StageBounds& b = bounds_.stages.at(reader.name());
    const int position = FixedLoops(reader, stage);
    AxisSolver& solver = solvers_.at(reader.name());
    for (size_t i = 0; i < node.axes.size(); ++i) {
      Interval r = solver.Run(node.axes[i].var.name(), position);
      running.push_back({node.axes[i].var, {b.min[i] + r.min, b.min[i] + r.max}});
    }
    for (const ir::IterVar& v : node.reduce_axes) running.push_back({v.var, solver.Run(v.var.name(), position)});
    return running;
  }

  // Position of the last loop of `reader` that is fixed during one computation of `stage`.
  static int FixedLoops(const Stage& reader, const Stage& stage) {
    return reader.name() == stage.at_stage ? schedule::LeafPosition(reader, stage.at_axis) : -1;
  }

  void AddLoops(const Stage& reader, const Stage& stage, std::vector<arith::RunningVar>* running) {
    const std::vector<Loop>& loops = bounds_.stages.at(reader.name()).loops;
    int first = FixedLoops(reader, stage) + 1, last = static_cast<int>(loops.size()) - 1;
    if (reader.name() != stage.at_stage) AddLoopsAround(reader, stage, running);
    for (int i = first; i <= last; ++i) running->push_back({loops[i].var, {Expr(0), loops[i].extent - 1}});
  }

  // Adds the loops between the place of `stage` and `inner`, which is attached inside it.
  void AddLoopsAround(const Stage& inner, const Stage& stage, std::vector<arith::RunningVar>* running) {
    const Stage& consumer = *schedule_.Find(inner.at_stage);
    if (consumer.name() != stage.at_stage) AddLoopsAround(consumer, stage, running);
    const std::vector<Loop>& loops = bounds_.stages.at(consumer.name()).loops;
    for (int i = FixedLoops(consumer, stage) + 1; i <= schedule::LeafPosition(consumer, inner.at_axis); ++i) {
      running->push_back({loops[i].var, {Expr(0), loops[i].extent - 1}});
    }
  }

  void InferRegion(const Stage& stage, StageBounds* out) {
    arith::Analyzer& analyzer = bounds_.analyzer;
    const std::vector<int64_t>& shape = stage.tensor.shape();
    std::vector<Interval> total(shape.size());
    std::vector<Interval> unclipped(shape.size());  // may extend beyond the tensor's end
    for (const Stage& reader : schedule_.stages()) {
      if (reader.attach == AttachKind::kInline) continue;
      const std::vector<const ir::Access*> accesses = AccessesOf(stage.name(), reader.tensor.node()->body);
      if (accesses.empty()) continue;
      std::vector<arith::RunningVar> running = Running(reader, stage);
      for (const ir::Access* access : accesses) {
        for (size_t d = 0; d < shape.size(); ++d) {
          Interval r = arith::IntervalOf(access->indices[d], running, &analyzer);
          if (!r.known()) r = {Expr(0), Expr(shape[d] - 1)};  // depends on data: use all of it
          const Interval whole = r;
          r = Clip(r, shape[d]);
          if (places_) {
            const Interval o = {r.min, whole.max};
            unclipped[d] = unclipped[d].known() ? arith::Union(unclipped[d], o, &analyzer) : o;
          }
          total[d] = total[d].known() ? arith::Union(total[d], r, &analyzer) : r;
        }
      }
    }
    for (size_t d = 0; d < total.size(); ++d) {
      out->min.push_back(analyzer.Simplify(total[d].min));
      out->extent.push_back(arith::ExtentOf(total[d], &analyzer));
      if (!places_) continue;
      // Computes a tile that crosses the edge as a whole if its size is known well: its readers then need no
      // conditions.
      const int64_t inside = std::max<int64_t>(1, analyzer.ConstUpperBound(out->extent[d]).value_or(shape[d]));
      const int64_t whole = analyzer.ConstUpperBound(arith::ExtentOf(unclipped[d], &analyzer)).value_or(inside);
      out->box.push_back(whole > inside && whole <= kMostBeyond * inside ? whole : inside);
    }
  }

  // Intervals may extend outside the tensor: a read may be under a false condition, and some intervals are not exact.
  Interval Clip(Interval r, int64_t extent) {
    if (!bounds_.analyzer.CanProve(Expr(0) <= r.min)) r.min = Max(r.min, Expr(0));
    if (!bounds_.analyzer.CanProve(r.max <= Expr(extent - 1))) r.max = Min(r.max, Expr(extent - 1));
    return r;
  }

  const Schedule& schedule_;
  const GpuPlaces* const places_;  // null except for GPUs
  Bounds& bounds_;
  std::map<std::string, AxisSolver> solvers_;
};

}  // namespace

void InferBounds(const Schedule& schedule, Bounds* bounds, const GpuPlaces* places) {
  Inferrer(schedule, places, bounds).Run();
}

}  // namespace hone::lower
