// Shared memory and barriers of a GPU's block.
//
// Runs after vthread, which leaves one copy of each place where the block meets, and before the passes that make
// programs large.
//
// HoistShared moves allocations in shared memory directly inside the loops over blocks.
//
// PlaceBarriers puts a barrier between two accesses to one shared buffer if one is a write and another thread may
// access the same element. No barrier is needed if
// - the elements certainly differ: disjoint ranges for given variables of the loops around both, or different copies of
//   a buffer that has several;
// - both accesses are by the same thread, which the index shows if it is a sum of multiples of thread indices and loop
//   variables;
// - both belong to the computation of the buffer's own stage (identity, update).
// Ranges are compared under those conditions around the two accesses that have the same value for both. Seen from
// before a loop with a barrier in every iteration, only its first iteration counts; from behind it, only the last.
//
// A barrier is placed as far out as possible: before a loop rather than in it. Dependences between iterations cause one
// at the loop's head. No barrier is under a condition that differs between threads: loop_nest puts nothing there that
// needs one.
#include <algorithm>
#include <vector>

#include "ir/analysis.h"
#include "ir/visitor.h"
#include "lower/passes.h"
#include "lower/shared_access.h"

namespace hone::lower {
namespace {

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

// Accesses before the first barrier and after the last one; equal if there is no barrier.
struct Flow {
  std::vector<Access> head, tail;
  bool always = false;  // there is one on every path

  void Then(const Flow& next, bool barrier_between) {
    if (barrier_between) always = true;
    if (!always) head.insert(head.end(), next.head.begin(), next.head.end());
    if (barrier_between || next.always) tail.clear();
    tail.insert(tail.end(), next.tail.begin(), next.tail.end());
    always = always || next.always;
  }
};

class BarrierPlacer {
 public:
  Stmt Kernels(const Stmt& s) {
    const bool outside = !accesses_.InThreads();
    if (const auto* block = s.as<ir::Block>(); block && outside) {
      std::vector<Stmt> stmts;
      for (const Stmt& child : block->stmts) stmts.push_back(Kernels(child));
      return ir::MakeBlock(std::move(stmts));
    }
    const auto* allocate = s.as<ir::Allocate>();
    if (allocate && outside) return ir::MakeAllocate(allocate->buffer, Kernels(allocate->body));
    const auto* loop = s.as<For>();
    if (!loop || !(ir::IsThreadLoop(loop->for_kind) || ir::IsBlockLoop(loop->for_kind))) {
      return outside ? s : Place(s, nullptr);
    }
    accesses_.EnterIndex(*loop);
    Stmt body = Kernels(loop->body);
    accesses_.LeaveIndex(*loop);
    return ir::MakeFor(loop->var, loop->min, loop->extent, loop->for_kind, body);
  }

 private:
  Stmt Place(const Stmt& s, Flow* flow) {
    Flow own;
    if (!flow) flow = &own;
    if (!s.defined()) return s;
    if (s.as<ir::Barrier>()) {  // inserted by an earlier pass
      flow->always = true;
      return s;
    }
    if (const auto* block = s.as<ir::Block>()) return PlaceBlock(*block, flow);
    if (const auto* loop = s.as<For>(); loop && accesses_.Uniform(loop->min) && accesses_.Uniform(loop->extent)) {
      return PlaceFor(*loop, flow);
    }
    if (const auto* op = s.as<ir::If>(); op && accesses_.Uniform(op->condition)) return PlaceIf(*op, flow);
    if (const auto* op = s.as<ir::Allocate>()) return ir::MakeAllocate(op->buffer, Place(op->body, flow));
    if (const auto* op = s.as<ir::Pragma>()) return ir::MakePragma(op->key, op->value, Place(op->body, flow));
    Collect(s, flow);
    return s;
  }

  Stmt PlaceBlock(const ir::Block& op, Flow* flow) {
    std::vector<Stmt> stmts;
    for (const Stmt& child : op.stmts) {
      Flow next;
      Stmt placed = Place(child, &next);
      const bool barrier = accesses_.Conflict(flow->tail, next.head, nullptr);
      if (barrier) stmts.push_back(ir::MakeBarrier());
      stmts.push_back(placed);
      flow->Then(next, barrier);
    }
    return ir::MakeBlock(std::move(stmts));
  }

  Stmt PlaceFor(const For& op, Flow* flow) {
    accesses_.EnterLoop(op, true);
    Stmt body = Place(op.body, flow);
    const int64_t* extent = AsIntImm(op.extent);
    if (!(extent && *extent == 1) && accesses_.Conflict(flow->tail, flow->head, op.var.node())) {
      body = ir::MakeBlock({ir::MakeBarrier(), body});
      flow->head.clear();
      flow->always = true;
    }
    // With a barrier in every iteration, accesses before the first belong to the first iteration, those after the last
    // to the last.
    using Rounds = SharedAccesses::Rounds;
    accesses_.Widen(op, flow->always ? Rounds::kFirst : Rounds::kAll, &flow->head);
    accesses_.Widen(op, flow->always ? Rounds::kLast : Rounds::kAll, &flow->tail);
    if (!extent || *extent < 1) flow->always = false;
    accesses_.LeaveLoop(op);
    return ir::MakeFor(op.var, op.min, op.extent, op.for_kind, body);
  }

  Stmt PlaceIf(const ir::If& op, Flow* flow) {
    Flow yes, no;
    accesses_.EnterIf(op.condition);
    Stmt then_case = Place(op.then_case, &yes);
    accesses_.LeaveIf();
    Stmt else_case = Place(op.else_case, &no);
    *flow = yes;
    flow->head.insert(flow->head.end(), no.head.begin(), no.head.end());
    flow->tail.insert(flow->tail.end(), no.tail.begin(), no.tail.end());
    flow->always = yes.always && no.always;
    return ir::MakeIf(op.condition, then_case, else_case);
  }

  // Everything in `s`, which gets no barrier.
  void Collect(const Stmt& s, Flow* flow) {
    class Finder final : public ir::Visitor {
     public:
      Finder(SharedAccesses* accesses, std::vector<Access>* out) : accesses_(*accesses), out_(*out) {}

     private:
      void VisitFor(const For& op) override {
        Visit(op.min);
        Visit(op.extent);
        accesses_.EnterLoop(op, false);
        Visit(op.body);
        accesses_.LeaveLoop(op);
      }
      void VisitIf(const ir::If& op) override {
        Visit(op.condition);
        accesses_.EnterIf(op.condition);
        Visit(op.then_case);
        accesses_.LeaveIf();
        Visit(op.else_case);
      }
      void VisitStore(const ir::Store& op) override {
        store_ = &op;
        own_ = true;
        const size_t first = out_.size();
        Visitor::VisitStore(op);
        if (op.buffer->scope == Scope::kShared) {
          out_.push_back(accesses_.Describe(op.buffer, op.index, true));
          for (size_t i = first; i < out_.size(); ++i) out_[i].own = out_[i].buffer == op.buffer.get() && own_;
        }
        store_ = nullptr;
      }
      void VisitLoad(const ir::Load& op) override {
        Visitor::VisitLoad(op);
        if (op.buffer->scope != Scope::kShared) return;
        if (store_ && store_->buffer.same_as(op.buffer) && !ir::Equal(store_->index, op.index)) own_ = false;
        out_.push_back(accesses_.Describe(op.buffer, op.index, false));
      }
      SharedAccesses& accesses_;
      std::vector<Access>& out_;
      const ir::Store* store_ = nullptr;
      bool own_ = false;
    };
    Finder(&accesses_, &flow->head).Visit(s);
    flow->tail = flow->head;
  }

  SharedAccesses accesses_;
};

}  // namespace

Stmt HoistShared(const Stmt& body) { return Hoister().Mutate(body); }

Stmt PlaceBarriers(const Stmt& body) { return BarrierPlacer().Kernels(body); }

}  // namespace hone::lower
