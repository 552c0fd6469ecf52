// Virtual threads: loops of kind vthread become copies of single statements.
//
// Runs right after loop_nest, while bodies are small, and before gpu_threads, which must see each place where the block
// meets only once. One thread runs all of its virtual threads, statement by statement. So the loop moves inwards, past
// loops, allocations and places where the block meets, to the statements that depend on its variable, and is unrolled
// there. A buffer that is allocated inside the loop and differs between virtual threads gets a copy for each.
#include <unordered_set>

#include "ir/visitor.h"
#include "ir/walk.h"
#include "lower/passes.h"

namespace hone::lower {
namespace {

using Buffers = std::unordered_set<const BufferNode*>;

// Whether it depends on the variable, or on anything that differs between virtual threads.
template <typename T>
bool Depends(const T& where, const Var& var, const Buffers& different) {
  bool found = false;
  const auto access = [&](const auto& op) { found = found || different.contains(op.buffer.get()); };
  ir::Walk(where, ir::Overloaded{[&](const VarNode& op) { found = found || &op == var.node(); },
                                 [&](const ir::Load& op) { access(op); }, [&](const ir::Store& op) { access(op); },
                                 [](const auto&) {}});
  return found;
}

// The buffers allocated inside whose values differ between virtual threads.
class DifferentBuffers final : public ir::Visitor {
 public:
  explicit DifferentBuffers(const Var& var) : var_(var) {}
  Buffers buffers;
  bool grown = false;

 private:
  bool Differs(const Expr& e) { return Depends(e, var_, buffers); }
  template <typename Node, typename Body>
  void Under(const Node& condition, const Body& body) {
    const bool before = differs_;
    differs_ = differs_ || Differs(condition);
    body();
    differs_ = before;
  }
  void VisitStore(const ir::Store& op) override {
    if (!inside_.count(op.buffer.get()) || !(differs_ || Differs(op.index) || Differs(op.value))) return;
    grown = buffers.insert(op.buffer.get()).second || grown;
  }
  void VisitAllocate(const ir::Allocate& op) override {
    inside_.insert(op.buffer.get());
    Visit(op.body);
  }
  void VisitIf(const ir::If& op) override {
    Under(op.condition, [&] {
      Visit(op.then_case);
      Visit(op.else_case);
    });
  }
  void VisitFor(const For& op) override {
    Under(op.min + op.extent, [&] { Visit(op.body); });
  }
  const Var& var_;
  Buffers inside_;
  bool differs_ = false;
};

// Moves one loop over virtual threads inwards.
class Spreader final : public ir::Mutator {
 public:
  Spreader(const For& loop, int64_t extent, Buffers different)
      : loop_(loop), extent_(extent), different_(std::move(different)) {}

 private:
  template <typename T>
  bool Dependent(const T& node) {
    return Depends(node, loop_.var, different_);
  }
  // Runs `s` for all virtual threads, one after the other.
  Stmt Each(const ir::StmtNode& s) {
    const Var var(loop_.var.name());
    // The part of one virtual thread: its value of the variable, its copies of the buffers.
    const Stmt one =
        ir::MoveAccesses(ir::Substitute(Same(s), loop_.var, var), grown_, [&](const Buffer& b, const Expr& index) {
          const Expr offset = Expr(var) * b->size;
          return index + (index.type().is_vector() ? ir::MakeBroadcast(offset, index.type().lanes) : offset);
        });
    return ir::MakeFor(var, Expr(0), Expr(extent_), ForKind::kUnrolled, one);
  }

  Stmt MutateStore(const ir::Store& op) override { return Dependent(Same(op)) ? Each(op) : Same(op); }
  Stmt MutateEvaluate(const ir::Evaluate& op) override { return Dependent(op.value) ? Each(op) : Same(op); }
  Stmt MutateFor(const For& op) override {
    return Dependent(op.min) || Dependent(op.extent) ? Each(op) : Mutator::MutateFor(op);
  }
  Stmt MutateIf(const ir::If& op) override { return Dependent(op.condition) ? Each(op) : Mutator::MutateIf(op); }
  Stmt MutateAllocate(const ir::Allocate& op) override {
    if (!different_.count(op.buffer.get())) return Mutator::MutateAllocate(op);
    Buffer all = Buffer::Make(op.buffer.name(), op.buffer->type, op.buffer->size * extent_, op.buffer->scope);
    grown_[op.buffer.get()] = all;
    return ir::MakeAllocate(all, Mutate(op.body));
  }

  const For& loop_;
  const int64_t extent_;
  const Buffers different_;
  ir::BufferMap grown_;
};

class VThreads final : public ir::Mutator {
 public:
  Status status;

 private:
  Stmt MutateFor(const For& op) override {
    if (op.for_kind != ForKind::kVThread) return Mutator::MutateFor(op);
    Stmt body = Mutate(op.body);  // inner ones first
    const int64_t *min = AsIntImm(op.min), *extent = AsIntImm(op.extent);
    if (!min || *min != 0 || !extent || *extent > kMaxVThreads) {
      if (status.ok()) {
        status = Status::Invalid("`{}` is bound to virtual threads: its extent must be a constant of at most {}",
                                 op.var.name(), kMaxVThreads);
      }
      return Same(op);
    }
    DifferentBuffers finder(op.var);
    do {
      finder.grown = false;
      finder.Visit(body);
    } while (finder.grown);
    return Spreader(op, *extent, std::move(finder.buffers)).Mutate(body);
  }
};

}  // namespace

Result<Stmt> SpreadVThreads(const Stmt& body) {
  VThreads pass;
  Stmt result = pass.Mutate(body);
  HONE_RETURN_IF_ERROR(pass.status);
  return result;
}

}  // namespace hone::lower
