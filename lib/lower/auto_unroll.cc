#include "lower/auto_unroll.h"

#include <algorithm>

#include "ir/visitor.h"

namespace hone::lower {
namespace {

using ir::Expr;
using ir::For;
using ir::ForKind;
using ir::Stmt;

constexpr int kMostDepth = 8;  // of unrolled loops in each other

class AutoUnroller final : public ir::Mutator {
 private:
  Stmt MutatePragma(const ir::Pragma& op) override {
    const int64_t* value = ir::AsIntImm(op.value);
    if (op.key == kUnrollPragma && value) return Told(op, *value);
    int64_t* setting = op.key == "auto_unroll_max_step" ? &most_ : op.key == "unroll_explicit" ? &explicit_ : nullptr;
    if (!setting || !value) return Mutator::MutatePragma(op);
    const int64_t before = *setting;
    *setting = *value;
    Stmt body = Mutate(op.body);
    *setting = before;
    return body;
  }
  // A loop that the schedule speaks of itself.
  Stmt Told(const ir::Pragma& note, int64_t rounds) {
    const auto* loop = note.body.as<For>();
    if (!loop || loop->for_kind != ForKind::kSerial) return Mutate(note.body);
    Stmt body = Mutate(loop->body);
    const int64_t* extent = ir::AsIntImm(loop->extent);
    if (extent && *extent <= rounds) {
      ++unrolled_;
      steps_ *= *extent;
      rounds = *extent;
    } else {
      ++loops_;
    }
    return ir::MakePragma(kUnrollPragma, Expr(rounds),
                          ir::MakeFor(loop->var, loop->min, loop->extent, loop->for_kind, body));
  }
  Stmt MutateStore(const ir::Store& op) override {
    ++steps_;
    return Same(op);
  }
  Stmt MutateBlock(const ir::Block& op) override {
    std::vector<Stmt> stmts;
    int64_t steps = 0, loops = 0, unrolled = 0;
    bool changed = false;
    for (const Stmt& s : op.stmts) {
      steps_ = loops_ = unrolled_ = 0;
      stmts.push_back(Mutate(s));
      changed = changed || !stmts.back().same_as(s);
      steps += steps_;
      loops = std::max(loops, loops_);
      unrolled = std::max(unrolled, unrolled_);
    }
    steps_ = steps;
    loops_ = loops;
    unrolled_ = unrolled;
    return changed ? ir::MakeBlock(std::move(stmts)) : Same(op);
  }
  Stmt MutateIf(const ir::If& op) override {
    Stmt then_case = Mutate(op.then_case), else_case = op.else_case;
    if (else_case.defined()) {
      const int64_t steps = steps_, loops = loops_, unrolled = unrolled_;
      steps_ = loops_ = unrolled_ = 0;
      else_case = Mutate(else_case);
      steps_ += steps;
      loops_ = std::max(loops_, loops);
      unrolled_ = std::max(unrolled_, unrolled);
    }
    if (then_case.same_as(op.then_case) && else_case.same_as(op.else_case)) return Same(op);
    return ir::MakeIf(op.condition, then_case, else_case);
  }
  Stmt MutateFor(const For& op) override {
    Stmt body = Mutate(op.body);
    const int64_t* extent = ir::AsIntImm(op.extent);
    const bool unroll = op.for_kind == ForKind::kSerial && extent && *extent >= 0 && loops_ == 0 &&
                        unrolled_ < kMostDepth && most_ > 0 && *extent * steps_ <= std::min(most_, kMostSteps);
    if (unroll || op.for_kind == ForKind::kUnrolled || op.for_kind == ForKind::kVectorized) {
      ++unrolled_;
      if (extent) steps_ *= op.for_kind == ForKind::kVectorized ? 1 : *extent;
    } else {
      ++loops_;
    }
    if (unroll && explicit_) return ir::MakeFor(op.var, op.min, op.extent, ForKind::kUnrolled, body);
    Stmt loop = body.same_as(op.body) ? Same(op) : ir::MakeFor(op.var, op.min, op.extent, op.for_kind, body);
    return unroll ? ir::MakePragma(kUnrollPragma, Expr(*extent), loop) : loop;
  }

  int64_t most_ = 0, explicit_ = 0;
  int64_t steps_ = 0, loops_ = 0, unrolled_ = 0;  // of what was gone through last: stores, depths of loops
};

}  // namespace

Stmt AutoUnroll(const Stmt& body) { return AutoUnroller().Mutate(body); }

}  // namespace hone::lower
