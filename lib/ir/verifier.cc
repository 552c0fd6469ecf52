#include "ir/verifier.h"

#include <unordered_set>

#include "ir/analysis.h"
#include "ir/printer.h"
#include "ir/scalar.h"
#include "ir/visitor.h"

namespace hone::ir {
namespace {

bool IsIntOrUint(DType t) { return t.is_int() || t.is_uint(); }

bool IsIdentifier(const std::string& s) {
  if (s.empty() || (s[0] >= '0' && s[0] <= '9')) return false;
  return s.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
}

class Verifier final : public Visitor {
 public:
  explicit Verifier(const VerifyOptions& options) : options_(options) {}

  Status Check(const Function& f) {
    name_ = f.name;
    if (!IsIdentifier(f.name)) Fail("the function's name is not a C identifier", f.name);
    for (const Buffer& b : f.params) {
      if (b->scope != Scope::kArgument) Fail("a parameter's scope is not `argument`", b.name());
      if (!buffers_.insert(b.get()).second) Fail("a buffer is a parameter twice", b.name());
      CheckBuffer(*b.get());
    }
    if (!f.body.defined()) Fail("no body", f.name);
    Visit(f.body);
    return status_;
  }

 private:
  void Fail(const char* what, const std::string& where) {
    if (!status_.ok()) return;
    std::string text = where.substr(0, where.find('\n'));
    if (text.size() > 160) text.replace(157, text.npos, "...");
    status_ = Status::Invalid("{}: {}: `{}`", name_, what, text);
  }
  template <typename Node>
  void Require(bool condition, const char* what, const Node& node) {
    if (!condition && status_.ok()) Fail(what, Text(node));
  }
  static std::string Text(const ExprNode& node) { return ToString(Expr(&node)); }
  static std::string Text(const StmtNode& node) { return ToString(Stmt(&node)); }

  void CheckBuffer(const BufferNode& b) {
    if (!b.type.is_scalar()) Fail("a buffer's element type is a vector", b.name);
    if (b.size < 0) Fail("a buffer's size is negative", b.name);
    if (b.scope == Scope::kRegister && b.size == 0) Fail("a register buffer is empty", b.name);
  }

  template <typename Node>
  void CheckAccess(const Buffer& b, const Expr& index, const Node& node) {
    Require(b.defined() && buffers_.contains(b.get()),
            "a buffer is used that is neither a parameter nor allocated around", node);
    Require(IsIntOrUint(index.type()), "an index is not an integer", node);
    if (!status_.ok()) return;
    int64_t low, high;
    if (const int64_t* at = AsIntImm(index)) {
      low = high = *at;
    } else if (const auto* ramp = index.as<Ramp>(); ramp && AsIntImm(ramp->base) && AsIntImm(ramp->stride)) {
      low = high = *AsIntImm(ramp->base);
      int64_t last = low + *AsIntImm(ramp->stride) * (ramp->type.lanes - 1);
      (last < low ? low : high) = last;
    } else {
      return;
    }
    Require(low >= 0 && high < b->size, "a constant index is out of range", node);
  }

  void VisitVar(const VarNode& op) override {
    Require(vars_.contains(&op), "a variable is used outside its scope", op);
  }

  void VisitCast(const Cast& op) override {
    Require(op.type.lanes == op.value.type().lanes, "a cast changes the number of lanes", op);
    Visitor::VisitCast(op);
  }

  void VisitBinary(const Binary& op) override {
    DType t = op.a.type();
    Require(t == op.b.type(), "operands have different types", op);
    Require(op.type == (IsArithmetic(op.kind) ? t : DType::Bool(t.lanes)), "the result has the wrong type", op);
    if (IsLogical(op.kind)) Require(t.is_bool(), "`&&` and `||` need bools", op);
    if (IsArithmetic(op.kind)) Require(!t.is_bool(), "arithmetic on bools", op);
    if (op.kind == ExprKind::kMod) Require(!t.is_float(), "`%` on floats", op);
    if (IsShift(op.kind)) {
      Require(!t.is_float(), "a shift of floats", op);
      const int64_t* by = AsIntImm(op.b);
      Require(by == nullptr || (*by >= 0 && *by < t.bits), "a shift by more bits than the type has", op);
    }
    if ((op.kind == ExprKind::kDiv || op.kind == ExprKind::kMod) && AsIntImm(op.b))
      Require(*AsIntImm(op.b) != 0, "division by 0", op);
    Visitor::VisitBinary(op);
  }

  void VisitNot(const Not& op) override {
    Require(op.a.type().is_bool(), "`!` needs a bool", op);
    Visitor::VisitNot(op);
  }

  void VisitSelect(const Select& op) override {
    Require(op.condition.type() == DType::Bool(op.type.lanes), "a select's condition is not a bool of as many lanes",
            op);
    Require(op.if_true.type() == op.type && op.if_false.type() == op.type, "a select's sides have different types", op);
    Visitor::VisitSelect(op);
  }

  void VisitLoad(const Load& op) override {
    CheckAccess(op.buffer, op.index, op);
    Require(op.type == op.buffer->type.WithLanes(op.index.type().lanes), "a load's type is not its buffer's", op);
    Visitor::VisitLoad(op);
  }

  void VisitRamp(const Ramp& op) override {
    Require(op.base.type().is_scalar() && op.base.type() == op.stride.type(),
            "a ramp's base and stride are not scalars of one type", op);
    Require(IsIntOrUint(op.base.type()) && op.type.lanes > 1, "a ramp is not a vector of integers", op);
    Visitor::VisitRamp(op);
  }

  void VisitBroadcast(const Broadcast& op) override {
    Require(op.value.type().is_scalar() && op.type.lanes > 1, "a broadcast of a vector, or to one lane", op);
    Visitor::VisitBroadcast(op);
  }

  void VisitCall(const Call& op) override {
    if (op.args.size() != static_cast<size_t>(IntrinsicArity(op.fn)))
      return Fail("wrong number of arguments", Text(op));
    if (op.fn == Intrinsic::kPrefetch) return Fail("a prefetch inside an expression", Text(op));
    if (op.fn == Intrinsic::kIfThenElse) {
      Require(op.args[0].type() == DType::Bool(), "if_then_else needs a scalar bool", op);
      Require(op.args[1].type() == op.type && op.args[2].type() == op.type, "if_then_else's sides have different types",
              op);
    } else if (op.fn == Intrinsic::kMmaTf32) {
      const DType value = DType::Float(32);
      Require(&op == product_, "a product of a warp that is not all of what a store stores", op);
      Require(op.type == value.WithLanes(4) && op.args[0].type() == op.type &&
                  op.args[1].type() == value.WithLanes(2) && op.args[2].type() == op.type,
              "a product of a warp needs 4, 2 and 4 lanes of f32", op);
    } else if (op.fn == Intrinsic::kDot4) {
      const DType a = op.args[1].type(), b = op.args[2].type();
      const int n = op.type.lanes;
      Require(op.type == DType::Int(32, n) && op.args[0].type() == op.type, "dot4 adds to something other than i32",
              op);
      Require(b == DType::Int(8, 4 * n) && (a.lanes == 4 || a.lanes == b.lanes) &&
                  (a.element() == DType::Int(8) || a.element() == DType::UInt(8)),
              "dot4 needs four 8-bit factors a lane, the second ones signed", op);
    } else {
      Require(op.type.is_float(), "an intrinsic on something other than floats", op);
      Require(op.fn != Intrinsic::kTf32 || op.type.bits == 32, "tf32 of something other than f32", op);
      for (const Expr& a : op.args) Require(a.type() == op.type, "an intrinsic's arguments have different types", op);
    }
    Visitor::VisitCall(op);
  }

  void VisitAccess(const Access& op) override { Fail("a tensor expression is left", Text(op)); }
  void VisitReduce(const Reduce& op) override { Fail("a tensor expression is left", Text(op)); }

  void VisitStore(const Store& op) override {
    CheckAccess(op.buffer, op.index, op);
    if (!status_.ok()) return;
    Require(op.buffer->scope != Scope::kArgument || op.buffer->written,
            "a store to a parameter that is not marked written", op);
    Require(op.value.type() == op.buffer->type.WithLanes(op.index.type().lanes),
            "a store of a value of another type or other lanes", op);
    product_ = WarpProductOf(Stmt(&op));
    Visitor::VisitStore(op);
    product_ = nullptr;
  }

  void VisitFor(const For& op) override {
    Require(op.var.type() == DType::Int(64) && op.min.type() == op.var.type() && op.extent.type() == op.var.type(),
            "a loop's variable and range are not i64", op);
    if (options_.for_codegen) {
      bool left =
          op.for_kind == ForKind::kVectorized || op.for_kind == ForKind::kUnrolled || op.for_kind == ForKind::kVThread;
      Require(!left, "a vectorized, unrolled or vthread loop is left for the backend", op);
    }
    Visit(op.min);
    Visit(op.extent);
    if (!vars_.insert(op.var.node()).second) Fail("a variable is bound again inside its own scope", Text(op));
    VisitBody(op.body, op);
    vars_.erase(op.var.node());
  }

  void VisitBlock(const Block& op) override {
    for (const Stmt& s : op.stmts) {
      Require(s.defined() && !s.as<Block>(), "a block directly in a block, or an empty statement in one", op);
    }
    Visitor::VisitBlock(op);
  }

  void VisitIf(const If& op) override {
    Require(op.condition.type() == DType::Bool(), "a condition is not a scalar bool", op);
    Visit(op.condition);
    VisitBody(op.then_case, op);
    Visit(op.else_case);
  }

  void VisitAllocate(const Allocate& op) override {
    CheckBuffer(*op.buffer.get());
    Require(op.buffer->scope != Scope::kArgument, "an allocation has scope `argument`", op);
    Require(buffers_.insert(op.buffer.get()).second, "a buffer is allocated again inside its own scope", op);
    VisitBody(op.body, op);
    buffers_.erase(op.buffer.get());
  }

  void VisitEvaluate(const Evaluate& op) override {
    const auto* call = op.value.as<Call>();
    if (!call || call->fn != Intrinsic::kPrefetch) return Visit(op.value);
    const auto* load = call->args[0].as<Load>();
    const int64_t* locality = AsIntImm(call->args[1]);
    Require(load && locality && *locality >= 0 && *locality <= 3, "a prefetch needs a load and a locality of 0 to 3",
            op);
    // Not CheckAccess: the address may lie past the buffer's end.
    if (!status_.ok()) return;
    Require(buffers_.contains(load->buffer.get()), "a buffer is used that is neither a parameter nor allocated around",
            op);
    Visit(load->index);
  }

  void VisitPragma(const Pragma& op) override {
    Visit(op.value);
    VisitBody(op.body, op);
  }

  void VisitBody(const Stmt& body, const StmtNode& of) {
    if (!body.defined()) return Fail("a statement has no body", Text(of));
    if (status_.ok()) Visit(body);
  }

  VerifyOptions options_;
  std::string name_;
  Status status_;
  std::unordered_set<const VarNode*> vars_;
  std::unordered_set<const BufferNode*> buffers_;
  const Call* product_ = nullptr;  // the warp product in the current store
};

}  // namespace

Status Verify(const Function& f, const VerifyOptions& options) { return Verifier(options).Check(f); }

}  // namespace hone::ir
