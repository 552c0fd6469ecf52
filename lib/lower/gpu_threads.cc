#include "lower/gpu_threads.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "arith/linear.h"
#include "arith/simplify.h"
#include "ir/analysis.h"
#include "ir/equal.h"
#include "ir/visitor.h"

namespace hone::lower {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::For;
using ir::Scope;
using ir::Stmt;
using ir::VarNode;

class Hoister final : public ir::Mutator {
 private:
  Stmt MutateFor(const For& op) override {
    if (!ir::IsBlockLoop(op.for_kind)) return Mutator::MutateFor(op);
    Stmt body = Mutate(op.body);
    const auto* inner = op.body.as<For>();
    if (!inner || !ir::IsBlockLoop(inner->for_kind)) {
      for (size_t i = found_.size(); i-- > 0;) body = ir::MakeAllocate(found_[i], body);
      found_.clear();
    }
    return body.same_as(op.body) ? Same(op) : ir::MakeFor(op.var, op.min, op.extent, op.for_kind, body);
  }
  Stmt MutateAllocate(const ir::Allocate& op) override {
    if (op.buffer->scope != Scope::kShared) return Mutator::MutateAllocate(op);
    auto same = [&](const Buffer& b) { return b.same_as(op.buffer); };
    if (std::none_of(found_.begin(), found_.end(), same)) found_.push_back(op.buffer);
    return Mutate(op.body);
  }
  std::vector<Buffer> found_;
};

struct Thread {  // a loop over threads
  ir::Var var;
  int64_t extent = 1;
};

// The condition with multiples of itself: where threads copy some neighbours each, it speaks of threads and the index
// of elements, and the analyzer multiplies no facts.
Expr WithMultiples(const Expr& condition) {
  const auto* op = condition.as<ir::Binary>();
  if (!op || op->kind != ir::ExprKind::kLt || op->a.type() != DType::Int(64)) return condition;
  Expr all = condition;
  for (int64_t n : {2, 3, 4, 8, 16}) all = all && op->a * n < (op->b - 1) * n + 1;
  return all;
}

// One access to shared memory.
struct Access {
  const ir::BufferNode* buffer = nullptr;
  bool write = false;
  bool own = false;  // by the computation of the buffer's own stage
  Expr index;
  std::pair<int64_t, int64_t> range = {0, INT64_MAX};
  std::vector<int64_t> only;        // for each thread loop: the one index that gets here, -1 if there are several
  std::vector<int64_t> per_thread;  // factor of each thread's index; empty: the index is no sum of variables' multiples
  std::vector<std::pair<int64_t, int64_t>> others;  // factor and largest value of each other term, sorted
  int64_t constant = 0;
  struct Copy {
    Expr which;
    int64_t count, size;
  };
  std::vector<Copy> copies;  // the index is which%count*size + .., the rest within 0 .. size-1
};

// Accesses before the first barrier and behind the last one; the same if there is none.
struct Flow {
  std::vector<Access> head, tail;
  bool has_barrier = false, always = false;  // on some way through, on every one

  void Then(const Flow& next, bool barrier_between) {
    if (barrier_between) has_barrier = always = true;
    if (!always) head.insert(head.end(), next.head.begin(), next.head.end());
    if (barrier_between || next.always) tail.clear();
    tail.insert(tail.end(), next.tail.begin(), next.tail.end());
    has_barrier = has_barrier || next.has_barrier;
    always = always || next.always;
  }
};

class BarrierPlacer {
 public:
  Stmt Kernels(const Stmt& s) {
    if (const auto* block = s.as<ir::Block>(); block && threads_.empty()) {
      std::vector<Stmt> stmts;
      for (const Stmt& child : block->stmts) stmts.push_back(Kernels(child));
      return ir::MakeBlock(std::move(stmts));
    }
    const auto* allocate = s.as<ir::Allocate>();
    if (allocate && threads_.empty()) return ir::MakeAllocate(allocate->buffer, Kernels(allocate->body));
    const auto* loop = s.as<For>();
    const bool thread = loop && ir::IsThreadLoop(loop->for_kind);
    if (!thread && !(loop && ir::IsBlockLoop(loop->for_kind))) return threads_.empty() ? s : Place(s, nullptr);
    analyzer_.Bind(loop->var, loop->min, loop->extent);
    if (thread) threads_.push_back({loop->var, *ir::AsIntImm(loop->extent)});
    Stmt body = Kernels(loop->body);
    if (thread) threads_.pop_back();
    analyzer_.Unbind(loop->var);
    return ir::MakeFor(loop->var, loop->min, loop->extent, loop->for_kind, body);
  }

 private:
  Stmt Place(const Stmt& s, Flow* flow) {
    Flow own;
    if (!flow) flow = &own;
    if (!s.defined()) return s;
    if (s.as<ir::Barrier>()) {  // a pass put it there
      flow->has_barrier = flow->always = true;
      return s;
    }
    if (const auto* block = s.as<ir::Block>()) return PlaceBlock(*block, flow);
    if (const auto* loop = s.as<For>(); loop && Uniform(loop->min) && Uniform(loop->extent))
      return PlaceFor(*loop, flow);
    if (const auto* op = s.as<ir::If>(); op && Uniform(op->condition)) return PlaceIf(*op, flow);
    if (const auto* op = s.as<ir::Allocate>()) return ir::MakeAllocate(op->buffer, Place(op->body, flow));
    if (const auto* op = s.as<ir::Pragma>()) return ir::MakePragma(op->key, op->value, Place(op->body, flow));
    if (const auto* op = s.as<ir::LetStmt>()) {
      if (!Uniform(op->value)) differing_.insert(op->var.node());
      return ir::MakeLetStmt(op->var, op->value, Place(op->body, flow));
    }
    Collect(s, flow);
    return s;
  }

  Stmt PlaceBlock(const ir::Block& op, Flow* flow) {
    std::vector<Stmt> stmts;
    for (const Stmt& child : op.stmts) {
      Flow next;
      Stmt placed = Place(child, &next);
      const bool barrier = Conflict(flow->tail, next.head, nullptr);
      if (barrier) stmts.push_back(ir::MakeBarrier());
      stmts.push_back(placed);
      flow->Then(next, barrier);
    }
    return ir::MakeBlock(std::move(stmts));
  }

  Stmt PlaceFor(const For& op, Flow* flow) {
    analyzer_.Bind(op.var, op.min, op.extent);
    scope_.insert(op.var.node());
    Stmt body = Place(op.body, flow);
    const int64_t* extent = ir::AsIntImm(op.extent);
    if (!(extent && *extent == 1) && Conflict(flow->tail, flow->head, op.var.node())) {
      body = ir::MakeBlock({ir::MakeBarrier(), body});
      flow->head.clear();
      flow->has_barrier = flow->always = true;
    }
    if (!extent || *extent < 1) flow->always = false;
    scope_.erase(op.var.node());
    analyzer_.Unbind(op.var);
    return ir::MakeFor(op.var, op.min, op.extent, op.for_kind, body);
  }

  Stmt PlaceIf(const ir::If& op, Flow* flow) {
    Flow yes, no;
    analyzer_.Assume(op.condition);
    Stmt then_case = Place(op.then_case, &yes);
    analyzer_.Forget();
    Stmt else_case = Place(op.else_case, &no);
    *flow = yes;
    flow->head.insert(flow->head.end(), no.head.begin(), no.head.end());
    flow->tail.insert(flow->tail.end(), no.tail.begin(), no.tail.end());
    flow->has_barrier = yes.has_barrier || no.has_barrier;
    flow->always = yes.always && no.always;
    return ir::MakeIf(op.condition, then_case, else_case);
  }

  // Is it the same for all threads of a block?
  bool Uniform(const Expr& e) const {
    if (ir::HasLoad(e)) return false;
    for (const ir::Var& v : ir::FreeVars(e)) {
      if (differing_.count(v.node())) return false;
      for (const Thread& t : threads_) {
        if (t.var.same_as(v)) return false;
      }
    }
    return true;
  }

  // Everything in `s`, which gets no barrier.
  void Collect(const Stmt& s, Flow* flow) {
    class Finder final : public ir::Visitor {
     public:
      Finder(BarrierPlacer* placer, std::vector<Access>* out) : placer_(*placer), out_(*out) {}

     private:
      void VisitFor(const For& op) override {
        Visit(op.min);
        Visit(op.extent);
        placer_.analyzer_.Bind(op.var, op.min, op.extent);
        Visit(op.body);
        placer_.analyzer_.Unbind(op.var);
      }
      void VisitIf(const ir::If& op) override {
        Visit(op.condition);
        placer_.analyzer_.Assume(WithMultiples(op.condition));
        Visit(op.then_case);
        placer_.analyzer_.Forget();
        Visit(op.else_case);
      }
      void VisitStore(const ir::Store& op) override {
        store_ = &op;
        own_ = true;
        const size_t first = out_.size();
        Visitor::VisitStore(op);
        if (op.buffer->scope == Scope::kShared) {
          out_.push_back(placer_.Describe(op.buffer, op.index, true));
          for (size_t i = first; i < out_.size(); ++i) out_[i].own = out_[i].buffer == op.buffer.get() && own_;
        }
        store_ = nullptr;
      }
      void VisitLoad(const ir::Load& op) override {
        Visitor::VisitLoad(op);
        if (op.buffer->scope != Scope::kShared) return;
        if (store_ && store_->buffer.same_as(op.buffer) && !ir::Equal(store_->index, op.index)) own_ = false;
        out_.push_back(placer_.Describe(op.buffer, op.index, false));
      }
      BarrierPlacer& placer_;
      std::vector<Access>& out_;
      const ir::Store* store_ = nullptr;
      bool own_ = false;
    };
    Finder(this, &flow->head).Visit(s);
    flow->tail = flow->head;
  }

  Access Describe(const Buffer& buffer, const Expr& index, bool write) {
    Access a;
    a.buffer = buffer.get();
    a.write = write;
    a.index = index;
    if (auto bounds = analyzer_.ConstBounds(index)) a.range = *bounds;
    for (const Thread& t : threads_) {
      auto bounds = analyzer_.ConstBounds(t.var);
      a.only.push_back(bounds && bounds->first == bounds->second ? bounds->first : -1);
    }
    if (index.type().is_vector()) return a;
    arith::Linear linear = arith::ToLinear(index);
    for (const arith::Linear::Term& term : linear.terms) FindCopy(term, &a);
    a.constant = linear.constant;
    std::vector<int64_t> factors(threads_.size(), 0);
    for (const arith::Linear::Term& term : linear.terms) {
      auto is_thread = [&](const Thread& t) { return t.var.same_as(term.term); };
      auto thread = std::find_if(threads_.begin(), threads_.end(), is_thread);
      if (thread != threads_.end()) {
        const size_t k = thread - threads_.begin();
        if (a.only[k] >= 0)
          a.constant += term.coefficient * a.only[k];
        else
          factors[k] = term.coefficient;
        continue;
      }
      auto bounds = analyzer_.ConstBounds(term.term);
      if (!bounds || !Uniform(term.term)) return a;
      a.constant += term.coefficient * bounds->first;
      if (bounds->first < bounds->second) a.others.emplace_back(term.coefficient, bounds->second - bounds->first);
    }
    std::sort(a.others.begin(), a.others.end());
    a.per_thread = std::move(factors);
    return a;
  }

  // `carried`: `before` stands in an earlier round of that variable's loop.
  bool Conflict(const std::vector<Access>& before, const std::vector<Access>& after, const VarNode* carried) {
    for (const Access& a : before) {
      for (const Access& b : after) {
        if (a.buffer != b.buffer || !(a.write || b.write) || (a.own && b.own)) continue;
        if (a.range.second < b.range.first || b.range.second < a.range.first) continue;
        if (SameThread(a, b) || OtherCopy(a, b, carried)) continue;
        return true;
      }
    }
    return false;
  }

  // Does one element say which thread has accessed it, the same one both times (or can they not be one element)?
  bool SameThread(const Access& a, const Access& b) const {
    const bool same_form = a.per_thread == b.per_thread && a.others == b.others;
    const bool one = a.only == b.only && std::none_of(a.only.begin(), a.only.end(), [](int64_t x) { return x < 0; });
    if (one) return true;
    if (a.per_thread.empty() || !same_form || a.only != b.only) return false;
    // Every term counts more than all smaller ones together can: no two values of the terms give one sum.
    std::vector<std::pair<int64_t, int64_t>> digits = a.others;
    for (size_t k = 0; k < threads_.size(); ++k) {
      if (a.only[k] >= 0 || threads_[k].extent == 1) continue;
      if (a.per_thread[k] == 0) return false;
      digits.emplace_back(a.per_thread[k], threads_[k].extent - 1);
    }
    for (auto& [factor, most] : digits) factor = std::abs(factor);
    std::sort(digits.begin(), digits.end());
    int64_t reach = std::abs(a.constant - b.constant);
    for (const auto& [factor, most] : digits) {
      if (factor <= reach) return false;
      reach += factor * most;
    }
    return true;
  }

  void FindCopy(const arith::Linear::Term& term, Access* a) {
    const auto* mod = term.term.as<ir::Binary>();
    const int64_t* count = mod && mod->kind == ir::ExprKind::kMod ? ir::AsIntImm(mod->b) : nullptr;
    if (!count || *count < 2 || term.coefficient <= 0) return;
    // What conditions are known about are the threads: the rest goes in by its bounds.
    Expr low(0), high(0);
    for (const arith::Linear::Term& t :
         arith::ToLinear(analyzer_.Simplify(a->index - term.term * term.coefficient)).terms) {
      auto is_it = [&](const Thread& thread) { return thread.var.same_as(t.term); };
      const bool thread = std::any_of(threads_.begin(), threads_.end(), is_it);
      auto bounds = thread ? std::nullopt : analyzer_.ConstBounds(t.term * t.coefficient);
      low = low + (bounds ? Expr(bounds->first) : t.term * t.coefficient);
      high = high + (bounds ? Expr(bounds->second) : t.term * t.coefficient);
    }
    const int64_t constant = arith::ToLinear(a->index).constant;
    if (analyzer_.CanProve(high + constant < Expr(term.coefficient)) && analyzer_.CanProve(Expr(0) <= low + constant))
      a->copies.push_back({mod->a, *count, term.coefficient});
  }

  // x%2*n + .. and (x + 1)%2*n + ..: the two halves of a double buffer; or of more.
  bool OtherCopy(const Access& a, const Access& b, const VarNode* carried) {
    for (const Access::Copy& x : a.copies) {
      for (const Access::Copy& y : b.copies) {
        if (x.size != y.size || x.count != y.count) continue;
        if (!IsSameForBoth(x.which, carried) || !IsSameForBoth(y.which, carried)) continue;
        Expr apart = analyzer_.Simplify(x.which - y.which);
        const int64_t* rounds = ir::AsIntImm(apart);
        if (rounds && *rounds % x.count != 0) return true;
      }
    }
    return false;
  }
  // Has it one value at both accesses: of variables of loops around both, in one round?
  bool IsSameForBoth(const Expr& e, const VarNode* carried) const {
    for (const ir::Var& v : ir::FreeVars(e)) {
      if (v.node() == carried || !scope_.count(v.node())) return false;
    }
    return true;
  }

  arith::Analyzer analyzer_;
  std::vector<Thread> threads_;
  std::unordered_set<const VarNode*> differing_;  // lets whose values differ between threads
  std::unordered_set<const VarNode*> scope_;      // variables of the loops around
};

}  // namespace

Stmt HoistShared(const Stmt& body) { return Hoister().Mutate(body); }

Stmt PlaceBarriers(const Stmt& body) { return BarrierPlacer().Kernels(body); }

}  // namespace hone::lower
