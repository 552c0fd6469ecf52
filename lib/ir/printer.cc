#include "ir/printer.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

namespace hone::ir {
namespace {

constexpr int kProduct = 5;

// How tightly a kind binds; an operand in a place that binds tighter gets parentheses.
int Precedence(ExprKind kind) {
  switch (kind) {
    case ExprKind::kOr:
      return 1;
    case ExprKind::kAnd:
      return 2;
    case ExprKind::kEq:
    case ExprKind::kNe:
    case ExprKind::kLt:
    case ExprKind::kLe:
    case ExprKind::kGt:
    case ExprKind::kGe:
      return 3;
    case ExprKind::kAdd:
    case ExprKind::kSub:
      return 4;
    case ExprKind::kMul:
    case ExprKind::kDiv:
    case ExprKind::kMod:
      return kProduct;
    default:
      return 7;
  }
}

class Printer {
 public:
  void Print(const Expr& e, int context = 0);
  void Print(const Stmt& s);
  void Print(const Function& f);
  std::string Take() { return std::move(out_); }

 private:
  const std::string& Name(const void* node, const std::string& wanted);
  const std::string& Name(const Var& v) { return Name(v.node(), v.name()); }
  const std::string& Name(const Buffer& b) { return Name(b.get(), b.name()); }
  void List(const std::vector<Expr>& exprs);
  void Operator(const Binary& op, int context);
  void Indent() { out_.append(2 * static_cast<size_t>(depth_), ' '); }
  void Body(const Stmt& s);  // "{\n", s one deeper, "}"
  void ElseOf(const If& op);

  std::string out_;
  int depth_ = 0;
  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> used_;
};

const std::string& Printer::Name(const void* node, const std::string& wanted) {
  auto [it, fresh] = names_.try_emplace(node);
  if (fresh) {
    std::string name = wanted.empty() ? "v" : wanted;
    for (int i = 1; !used_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
    it->second = std::move(name);
  }
  return it->second;
}

std::string FloatText(DType type, double value) {
  std::string text = type.bits == 32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  if (type.bits == 32) text += "f";
  if (type.bits == 16) text += "h";
  return text;
}

void Printer::List(const std::vector<Expr>& exprs) {
  for (size_t i = 0; i < exprs.size(); ++i) {
    if (i) out_ += ", ";
    Print(exprs[i]);
  }
}

void Printer::Operator(const Binary& op, int context) {
  if (op.kind == ExprKind::kMin || op.kind == ExprKind::kMax) {
    out_ += OperatorText(op.kind);
    out_ += "(";
    Print(op.a);
    out_ += ", ";
    Print(op.b);
    out_ += ")";
    return;
  }
  int own = Precedence(op.kind);
  if (own < context) out_ += "(";
  // Comparisons do not chain; the others associate to the left.
  Print(op.a, own == 3 ? own + 1 : own);
  const int64_t* constant = AsIntImm(op.b);
  if (op.kind == ExprKind::kAdd && op.type == DType::Int(64) && constant && *constant < 0 && *constant != INT64_MIN) {
    out_ += fmt::format(" - {}", -*constant);  // sums keep their constant as an addend; people read a difference
  } else {
    out_ += own == kProduct ? OperatorText(op.kind) : fmt::format(" {} ", OperatorText(op.kind));
    Print(op.b, own + 1);
  }
  if (own < context) out_ += ")";
}

void Printer::Print(const Expr& e, int context) {
  if (!e.defined()) {
    out_ += "null";
  } else if (const auto* i = e.as<IntImm>()) {
    if (i->type.is_bool()) {
      out_ += i->value ? "true" : "false";
    } else {
      std::string text =
          i->type.is_uint() ? fmt::format("{}", static_cast<uint64_t>(i->value)) : fmt::format("{}", i->value);
      if (i->type != DType::Int(64)) text = fmt::format("{}({})", hone::ToString(i->type), text);
      out_ += text;
    }
  } else if (const auto* f = e.as<FloatImm>()) {
    out_ += FloatText(f->type, f->value);
  } else if (const auto* v = e.as<VarNode>()) {
    out_ += Name(v, v->name);
  } else if (const auto* c = e.as<Cast>()) {
    out_ += hone::ToString(c->type) + "(";
    Print(c->value);
    out_ += ")";
  } else if (const auto* b = e.as<Binary>()) {
    Operator(*b, context);
  } else if (const auto* n = e.as<Not>()) {
    out_ += "!";
    Print(n->a, 7);
  } else if (const auto* s = e.as<Select>()) {
    out_ += "select(";
    List({s->condition, s->if_true, s->if_false});
    out_ += ")";
  } else if (const auto* l = e.as<Load>()) {
    out_ += Name(l->buffer) + "[";
    Print(l->index);
    out_ += "]";
  } else if (const auto* r = e.as<Ramp>()) {
    out_ += "ramp(";
    List({r->base, r->stride});
    out_ += fmt::format(", {})", r->type.lanes);
  } else if (const auto* bc = e.as<Broadcast>()) {
    out_ += "broadcast(";
    Print(bc->value);
    out_ += fmt::format(", {})", bc->type.lanes);
  } else if (const auto* call = e.as<Call>()) {
    out_ += fmt::format("{}(", IntrinsicName(call->fn));
    List(call->args);
    out_ += ")";
  } else if (const auto* let = e.as<Let>()) {
    out_ += "(let " + Name(let->var) + " = ";
    Print(let->value);
    out_ += " in ";
    Print(let->body);
    out_ += ")";
  } else if (const auto* a = e.as<Access>()) {
    out_ += a->tensor->name + "(";
    List(a->indices);
    out_ += ")";
  } else if (const auto* red = e.as<Reduce>()) {
    out_ += fmt::format("{}(", ReducerName(red->reducer));
    Print(red->body);
    for (const IterVar& axis : red->axes) out_ += fmt::format(", {}: {}", Name(axis.var), axis.extent);
    out_ += ")";
  }
}

void Printer::Body(const Stmt& s) {
  out_ += "{\n";
  ++depth_;
  Print(s);
  --depth_;
  Indent();
  out_ += "}";
}

void Printer::ElseOf(const If& op) {
  if (!op.else_case.defined()) return;
  out_ += " else ";
  if (const auto* chained = op.else_case.as<If>()) {
    out_ += "if (";
    Print(chained->condition);
    out_ += ") ";
    Body(chained->then_case);
    ElseOf(*chained);
  } else {
    Body(op.else_case);
  }
}

void Printer::Print(const Stmt& s) {
  if (!s.defined()) return;
  if (const auto* block = s.as<Block>()) {
    for (const Stmt& child : block->stmts) Print(child);
    return;
  }
  Indent();
  if (const auto* store = s.as<Store>()) {
    out_ += Name(store->buffer) + "[";
    Print(store->index);
    out_ += "] = ";
    Print(store->value);
    out_ += ";";
  } else if (const auto* loop = s.as<For>()) {
    std::string kind = ForKindName(loop->for_kind);
    out_ += "for " + (kind.empty() ? "" : kind + " ") + "(" + Name(loop->var) + ", ";
    List({loop->min, loop->extent});
    out_ += ") ";
    Body(loop->body);
  } else if (const auto* branch = s.as<If>()) {
    out_ += "if (";
    Print(branch->condition);
    out_ += ") ";
    Body(branch->then_case);
    ElseOf(*branch);
  } else if (const auto* let = s.as<LetStmt>()) {
    out_ += "let " + Name(let->var) + " = ";
    Print(let->value);
    out_ += ";\n";
    Print(let->body);
    return;
  } else if (const auto* alloc = s.as<Allocate>()) {
    const BufferNode& b = *alloc->buffer.get();
    out_ +=
        fmt::format("allocate {}: {}[{}] {} ", Name(alloc->buffer), hone::ToString(b.type), b.size, ScopeName(b.scope));
    Body(alloc->body);
  } else if (const auto* eval = s.as<Evaluate>()) {
    Print(eval->value);
    out_ += ";";
  } else if (const auto* pragma = s.as<Pragma>()) {
    out_ += "pragma " + pragma->key + " ";
    Print(pragma->value);
    out_ += " ";
    Body(pragma->body);
  } else {
    out_ += "barrier;";
  }
  out_ += "\n";
}

void Printer::Print(const Function& f) {
  out_ += "function " + f.name + "(";
  for (size_t i = 0; i < f.params.size(); ++i) {
    const Buffer& b = f.params[i];
    if (i) out_ += ", ";
    out_ += fmt::format("{}{}: {}[{}]", b->written ? "out " : "", Name(b), hone::ToString(b->type), b->size);
  }
  out_ += ") ";
  Body(f.body);
  out_ += "\n";
}

template <typename T>
std::string Text(const T& what) {
  Printer printer;
  printer.Print(what);
  return printer.Take();
}

}  // namespace

std::string ToString(const Expr& e) { return Text(e); }
std::string ToString(const Stmt& s) { return Text(s); }
std::string ToString(const Function& f) { return Text(f); }

const char* ForKindName(ForKind kind) {
  switch (kind) {
    case ForKind::kSerial:
      return "";
    case ForKind::kParallel:
      return "parallel";
    case ForKind::kVectorized:
      return "vectorized";
    case ForKind::kUnrolled:
      return "unrolled";
    case ForKind::kBlockX:
      return "blockIdx.x";
    case ForKind::kBlockY:
      return "blockIdx.y";
    case ForKind::kBlockZ:
      return "blockIdx.z";
    case ForKind::kThreadX:
      return "threadIdx.x";
    case ForKind::kThreadY:
      return "threadIdx.y";
    case ForKind::kThreadZ:
      return "threadIdx.z";
    case ForKind::kVThread:
      return "vthread";
  }
  return "?";
}

const char* ScopeName(Scope scope) {
  switch (scope) {
    case Scope::kArgument:
      return "argument";
    case Scope::kWorkspace:
      return "workspace";
    case Scope::kScratch:
      return "scratch";
    case Scope::kRegister:
      return "register";
    case Scope::kShared:
      return "shared";
  }
  return "?";
}

const char* IntrinsicName(Intrinsic fn) {
  switch (fn) {
    case Intrinsic::kExp:
      return "exp";
    case Intrinsic::kLog:
      return "log";
    case Intrinsic::kSqrt:
      return "sqrt";
    case Intrinsic::kTanh:
      return "tanh";
    case Intrinsic::kErf:
      return "erf";
    case Intrinsic::kAbs:
      return "abs";
    case Intrinsic::kFloor:
      return "floor";
    case Intrinsic::kCeil:
      return "ceil";
    case Intrinsic::kRound:
      return "round";
    case Intrinsic::kPow:
      return "pow";
    case Intrinsic::kFma:
      return "fma";
    case Intrinsic::kIfThenElse:
      return "if_then_else";
    case Intrinsic::kPrefetch:
      return "prefetch";
    case Intrinsic::kTf32:
      return "tf32";
    case Intrinsic::kMmaTf32:
      return "mma_tf32";
  }
  return "?";
}

const char* ReducerName(Reducer reducer) {
  switch (reducer) {
    case Reducer::kSum:
      return "sum";
    case Reducer::kMax:
      return "max";
    case Reducer::kMin:
      return "min";
  }
  return "?";
}

const char* OperatorText(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAdd:
      return "+";
    case ExprKind::kSub:
      return "-";
    case ExprKind::kMul:
      return "*";
    case ExprKind::kDiv:
      return "/";
    case ExprKind::kMod:
      return "%";
    case ExprKind::kMin:
      return "min";
    case ExprKind::kMax:
      return "max";
    case ExprKind::kEq:
      return "==";
    case ExprKind::kNe:
      return "!=";
    case ExprKind::kLt:
      return "<";
    case ExprKind::kLe:
      return "<=";
    case ExprKind::kGt:
      return ">";
    case ExprKind::kGe:
      return ">=";
    case ExprKind::kAnd:
      return "&&";
    case ExprKind::kOr:
      return "||";
    default:
      return "?";
  }
}

}  // namespace hone::ir
