#include "search/feature/loop_touches.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "arith/linear.h"
#include "ir/analysis.h"
#include "ir/visitor.h"

namespace hone::search {
namespace {

// The value of an integer expression if every variable is 0; nothing if unknown.
std::optional<int64_t> AtZero(const ir::Expr& e) {
  if (const int64_t* value = ir::AsIntImm(e)) return *value;
  if (e.as<ir::VarNode>() != nullptr) return 0;
  const auto* op = e.as<ir::Binary>();
  if (op == nullptr) return std::nullopt;
  const std::optional<int64_t> a = AtZero(op->a), b = AtZero(op->b);
  if (!a || !b) return std::nullopt;
  switch (op->kind) {
    case ir::ExprKind::kAdd:
      return *a + *b;
    case ir::ExprKind::kSub:
      return *a - *b;
    case ir::ExprKind::kMul:
      return *a * *b;
    case ir::ExprKind::kMin:
      return std::min(*a, *b);
    case ir::ExprKind::kMax:
      return std::max(*a, *b);
    case ir::ExprKind::kDiv:
      if (*b <= 0 || *a < 0) return std::nullopt;
      return *a / *b;
    default:
      return std::nullopt;
  }
}

int ParallelLevel(ir::ForKind kind) {
  using enum ir::ForKind;
  if (kind == kBlockX || kind == kBlockY || kind == kBlockZ) return 2;
  return kind == kParallel || kind == kThreadX || kind == kThreadY || kind == kThreadZ ? 1 : 0;
}

class Collector : public ir::Visitor {
 public:
  std::vector<LoopTouches> Run(const ir::Function& function) {
    Visit(function.body);
    return std::move(loops_);
  }

 private:
  void VisitFor(const ir::For& op) override {
    LoopTouches loop;
    loop.kind = op.for_kind;
    loop.length = FirstLength(op);
    loop.nest = static_cast<int>(open_.size()) + 1;
    loop.top_down = static_cast<double>(loop.length) * (open_.empty() ? 1 : loops_[open_.back()].top_down);
    open_.push_back(loops_.size());
    vars_.push_back(op.var);
    loops_.push_back(std::move(loop));
    Visit(op.body);
    open_.pop_back();
    vars_.pop_back();
  }

  void VisitBinary(const ir::Binary& op) override {
    if (op.type.is_float() && !open_.empty()) {
      LoopTouches& loop = loops_[open_.back()];
      loop.additions += op.kind == ir::ExprKind::kAdd || op.kind == ir::ExprKind::kSub;
      loop.multiplications += op.kind == ir::ExprKind::kMul;
      loop.divisions += op.kind == ir::ExprKind::kDiv || op.kind == ir::ExprKind::kMod;
    }
    Visitor::VisitBinary(op);
  }

  void VisitCall(const ir::Call& op) override {
    if (op.fn == ir::Intrinsic::kFma && !open_.empty()) {
      ++loops_[open_.back()].additions;
      ++loops_[open_.back()].multiplications;
    }
    Visitor::VisitCall(op);
  }

  void VisitLoad(const ir::Load& op) override {
    Visitor::VisitLoad(op);
    Access(op.buffer, op.index, false);
  }

  void VisitStore(const ir::Store& op) override {
    Visitor::VisitStore(op);
    Access(op.buffer, op.index, true);
  }

  void Access(const ir::Buffer& buffer, const ir::Expr& index, bool store) {
    const arith::Linear linear = arith::ToLinear(index);
    std::unordered_set<const ir::ExprNode*> used;
    for (const ir::Var& var : ir::FreeVars(index)) used.insert(var.get());
    if (!IsNew(buffer, linear, used, store)) return;
    const std::string name = fmt::format("{}_{:04}", buffer.name(), met_[buffer.name()]++);
    Touch touch;
    touch.buffer = buffer.name();
    // [l]: at the last loop visited that is not more parallel than l, to compare more parallel loops with.
    double count_below[2] = {1, 1}, reuse_below[2] = {1, 1};
    for (size_t i = open_.size(); i-- > 0;) {
      LoopTouches& loop = loops_[open_[i]];
      const bool uses = used.count(vars_[i].get()) != 0;
      (uses ? touch.count : touch.reuse) *= static_cast<double>(loop.length);
      touch.stride = linear.CoefficientOf(vars_[i]);
      const int level = ParallelLevel(loop.kind);
      touch.thread_count = level == 0 ? 0 : touch.count / count_below[level - 1];
      touch.thread_reuse = level == 0 ? 0 : touch.reuse / reuse_below[level - 1];
      for (int above = level; above < 2; ++above) {
        count_below[above] = touch.count;
        reuse_below[above] = touch.reuse;
      }
      loop.bottom_up = std::max(loop.bottom_up, touch.count * touch.reuse);
      loop.touches.emplace(name, touch);
    }
  }

  // Whether this innermost loop has no such access yet that differs only by a constant.
  bool IsNew(const ir::Buffer& buffer, const arith::Linear& linear, const std::unordered_set<const ir::ExprNode*>& used,
             bool store) {
    std::vector<int64_t> strides = {static_cast<int64_t>(open_.empty() ? SIZE_MAX : open_.back()), store};
    for (const ir::Var& var : vars_) {
      strides.push_back(static_cast<int64_t>(used.count(var.get())));
      strides.push_back(linear.CoefficientOf(var));
    }
    return seen_.emplace(buffer.get(), std::move(strides)).second;
  }

  std::vector<LoopTouches> loops_;
  std::vector<size_t> open_;   // the loops around here, outermost first
  std::vector<ir::Var> vars_;  // theirs
  std::map<std::string, int> met_;
  std::set<std::pair<const ir::BufferNode*, std::vector<int64_t>>> seen_;
};

}  // namespace

int64_t FirstLength(const ir::For& loop) { return std::max<int64_t>(1, AtZero(loop.extent).value_or(1)); }

std::vector<LoopTouches> CollectTouches(const ir::Function& function) { return Collector().Run(function); }

}  // namespace hone::search
