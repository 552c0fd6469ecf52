// Auto-unroll: decides which loops are unrolled, from the hints of a schedule (as in AutoTVM's templates).
//
// Runs after the passes that need a single copy of a body, and before vectorize and unroll.
// - Inside a Pragma "auto_unroll_max_step" n, a serial loop of constant extent is unrolled, innermost first, if all
//   loops inside it are and it has at most n stores in total.
// - With "unroll_explicit" 1 around it, the unroll pass unrolls it. With 0 or without it, the device's compiler does,
//   as a Pragma "unroll" at the loop requests. For a CPU, the unroll pass does it always. Both hints are removed.
// - A Pragma "unroll" n of the schedule stays and unrolls by n. No loop around it is unrolled unless n covers the whole
//   loop.
// - At most kMostSteps are written in a row: compilers take half a millisecond for each, and longer loops cost nothing.
#include <algorithm>
#include <utility>

#include "ir/visitor.h"
#include "lower/passes.h"

namespace hone::lower {
namespace {

constexpr int kMostDepth = 8;  // nesting limit of unrolled loops

struct Size {
  int64_t steps = 0, loops = 0, unrolled = 0;  // stores; depths of loops
  void Add(const Size& beside) {
    steps += beside.steps;
    loops = std::max(loops, beside.loops);
    unrolled = std::max(unrolled, beside.unrolled);
  }
};

class AutoUnroller final : public ir::Mutator {
 public:
  explicit AutoUnroller(bool cpu) : cpu_(cpu) {}

 private:
  Stmt MutatePragma(const ir::Pragma& op) override {
    const int64_t* value = AsIntImm(op.value);
    if (op.key == kUnrollPragma && value) return Told(op, *value);
    int64_t* setting = op.key == "auto_unroll_max_step" ? &most_ : op.key == "unroll_explicit" ? &explicit_ : nullptr;
    if (!setting || !value) return Mutator::MutatePragma(op);
    const int64_t before = *setting;
    *setting = *value;
    Stmt body = Mutate(op.body);
    *setting = before;
    return body;
  }
  // A loop for which the schedule itself has a note.
  Stmt Told(const ir::Pragma& note, int64_t rounds) {
    const auto* loop = note.body.as<For>();
    if (!loop || loop->for_kind != ForKind::kSerial) return Mutate(note.body);
    Stmt body = Mutate(loop->body);
    const int64_t* extent = AsIntImm(loop->extent);
    if (extent && *extent <= rounds) {
      ++done_.unrolled;
      done_.steps *= *extent;
      rounds = *extent;
    } else {
      ++done_.loops;
    }
    return ir::MakePragma(kUnrollPragma, Expr(rounds),
                          ir::MakeFor(loop->var, loop->min, loop->extent, loop->for_kind, body));
  }
  Stmt MutateStore(const ir::Store& op) override {
    ++done_.steps;
    return Same(op);
  }
  Stmt MutateBlock(const ir::Block& op) override {
    std::vector<Stmt> stmts;
    Size all;
    bool changed = false;
    for (const Stmt& s : op.stmts) {
      done_ = {};
      stmts.push_back(Mutate(s));
      changed = changed || !stmts.back().same_as(s);
      all.Add(done_);
    }
    done_ = all;
    return changed ? ir::MakeBlock(std::move(stmts)) : Same(op);
  }
  Stmt MutateIf(const ir::If& op) override {
    Stmt then_case = Mutate(op.then_case), else_case = op.else_case;
    if (else_case.defined()) {
      const Size before = std::exchange(done_, {});
      else_case = Mutate(else_case);
      done_.Add(before);
    }
    if (then_case.same_as(op.then_case) && else_case.same_as(op.else_case)) return Same(op);
    return ir::MakeIf(op.condition, then_case, else_case);
  }
  Stmt MutateFor(const For& op) override {
    Stmt body = Mutate(op.body);
    const int64_t* extent = AsIntImm(op.extent);
    const bool unroll = op.for_kind == ForKind::kSerial && extent && *extent >= 0 && done_.loops == 0 &&
                        done_.unrolled < kMostDepth && most_ > 0 &&
                        *extent * done_.steps <= std::min(most_, kMostSteps);
    if (unroll || op.for_kind == ForKind::kUnrolled || op.for_kind == ForKind::kVectorized) {
      ++done_.unrolled;
      if (extent) done_.steps *= op.for_kind == ForKind::kVectorized ? 1 : *extent;
    } else {
      ++done_.loops;
    }
    if (unroll && (cpu_ || explicit_ != 0)) return ir::MakeFor(op.var, op.min, op.extent, ForKind::kUnrolled, body);
    Stmt loop = body.same_as(op.body) ? Same(op) : ir::MakeFor(op.var, op.min, op.extent, op.for_kind, body);
    return unroll ? ir::MakePragma(kUnrollPragma, Expr(*extent), loop) : loop;
  }

  const bool cpu_;
  int64_t most_ = 0, explicit_ = 0;
  Size done_;  // of the last statement visited
};

}  // namespace

Stmt AutoUnroll(const Stmt& body, bool cpu) { return AutoUnroller(cpu).Mutate(body); }

}  // namespace hone::lower
