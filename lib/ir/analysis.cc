#include "ir/analysis.h"

#include <algorithm>

#include "ir/visitor.h"

namespace hone::ir {
namespace {

class VarFinder final : public Visitor {
 public:
  explicit VarFinder(const std::unordered_set<const VarNode*>& vars) : vars_(vars) {}
  bool found = false;

 private:
  void VisitVar(const VarNode& op) override { found = found || vars_.contains(&op); }
  void VisitBinary(const Binary& op) override {
    if (!found) Visitor::VisitBinary(op);
  }
  const std::unordered_set<const VarNode*>& vars_;
};

class FreeVarFinder final : public Visitor {
 public:
  std::vector<Var> vars;

 private:
  void VisitVar(const VarNode& op) override {
    if (std::find(bound_.begin(), bound_.end(), &op) == bound_.end() && seen_.insert(&op).second)
      vars.emplace_back(&op);
  }
  void VisitLet(const Let& op) override {
    Visit(op.value);
    bound_.push_back(op.var.node());
    Visit(op.body);
    bound_.pop_back();
  }
  void VisitLetStmt(const LetStmt& op) override {
    Visit(op.value);
    bound_.push_back(op.var.node());
    Visit(op.body);
    bound_.pop_back();
  }
  void VisitFor(const For& op) override {
    Visit(op.min);
    Visit(op.extent);
    bound_.push_back(op.var.node());
    Visit(op.body);
    bound_.pop_back();
  }
  void VisitReduce(const Reduce& op) override {
    for (const IterVar& axis : op.axes) bound_.push_back(axis.var.node());
    Visit(op.body);
    bound_.resize(bound_.size() - op.axes.size());
  }
  std::vector<const VarNode*> bound_;
  std::unordered_set<const VarNode*> seen_;
};

class BufferFinder final : public Visitor {
 public:
  std::vector<Buffer> read, written;

 private:
  static void Add(const Buffer& b, std::vector<Buffer>* to) {
    auto same = [&](const Buffer& other) { return other.same_as(b); };
    if (std::none_of(to->begin(), to->end(), same)) to->push_back(b);
  }
  void VisitLoad(const Load& op) override {
    Add(op.buffer, &read);
    Visit(op.index);
  }
  void VisitStore(const Store& op) override {
    Visitor::VisitStore(op);
    Add(op.buffer, &written);
  }
};

class NodeCounter final : public Visitor {
 public:
  int64_t count = 0;

 private:
#define HONE_COUNT(Name, Type)                \
  void Visit##Name(const Type& op) override { \
    ++count;                                  \
    Visitor::Visit##Name(op);                 \
  }
  HONE_COUNT(IntImm, IntImm)
  HONE_COUNT(FloatImm, FloatImm) HONE_COUNT(Var, VarNode) HONE_COUNT(Cast, Cast) HONE_COUNT(Binary, Binary)
      HONE_COUNT(Not, Not) HONE_COUNT(Select, Select) HONE_COUNT(Load, Load) HONE_COUNT(Ramp, Ramp)
          HONE_COUNT(Broadcast, Broadcast) HONE_COUNT(Call, Call) HONE_COUNT(Let, Let) HONE_COUNT(Store, Store)
              HONE_COUNT(For, For) HONE_COUNT(Block, Block) HONE_COUNT(If, If) HONE_COUNT(LetStmt, LetStmt)
                  HONE_COUNT(Allocate, Allocate) HONE_COUNT(Evaluate, Evaluate) HONE_COUNT(Pragma, Pragma)
                      HONE_COUNT(Barrier, Barrier)
#undef HONE_COUNT
};

template <typename T>
bool Uses(const T& where, const std::unordered_set<const VarNode*>& vars) {
  VarFinder finder(vars);
  finder.Visit(where);
  return finder.found;
}

template <typename T>
BufferFinder Buffers(const T& where) {
  BufferFinder finder;
  finder.Visit(where);
  return finder;
}

}  // namespace

bool UsesVar(const Expr& e, const Var& var) { return Uses(e, {var.node()}); }
bool UsesVar(const Stmt& s, const Var& var) { return Uses(s, {var.node()}); }
bool UsesAnyVar(const Expr& e, const std::unordered_set<const VarNode*>& vars) { return Uses(e, vars); }

std::vector<Var> FreeVars(const Expr& e) {
  FreeVarFinder finder;
  finder.Visit(e);
  return finder.vars;
}
std::vector<Var> FreeVars(const Stmt& s) {
  FreeVarFinder finder;
  finder.Visit(s);
  return finder.vars;
}

std::vector<Buffer> BuffersRead(const Expr& e) { return Buffers(e).read; }
std::vector<Buffer> BuffersRead(const Stmt& s) { return Buffers(s).read; }
std::vector<Buffer> BuffersWritten(const Stmt& s) { return Buffers(s).written; }
bool HasLoad(const Expr& e) { return !Buffers(e).read.empty(); }

const Call* WarpProductOf(const Stmt& s) {
  const auto* store = s.as<Store>();
  const auto* call = store ? store->value.as<Call>() : nullptr;
  return call && call->fn == Intrinsic::kMmaTf32 ? call : nullptr;
}

int64_t CountNodes(const Stmt& s) {
  NodeCounter counter;
  counter.Visit(s);
  return counter.count;
}

}  // namespace hone::ir
