#include "ir/printer.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "ir/scalar.h"

namespace hone::ir {
namespace {

constexpr int kComparison = 3, kShift = 4, kSum = 5, kProduct = 6, kUnary = 8;

// How tightly a kind binds; an operand in a place that binds tighter gets parentheses.
int Precedence(ExprKind kind) {
  if (kind == ExprKind::kOr) return 1;
  if (kind == ExprKind::kAnd) return 2;
  if (IsComparison(kind)) return kComparison;
  if (IsShift(kind)) return kShift;
  if (kind == ExprKind::kAdd || kind == ExprKind::kSub) return kSum;
  return kProduct;
}

class Printer {
 public:
  void Print(const Expr& e, int context = 0);
  void Print(const Stmt& s);
  void Print(const Function& f);
  std::string Take() { return std::move(out_); }

 private:
  // Appends texts and numbers, expressions and lists of them, and the names of variables and buffers.
  template <typename... T>
  void Put(const T&... parts) {
    (PutOne(parts), ...);
  }
  void PutOne(std::string_view text) { out_ += text; }
  void PutOne(int64_t number) { out_ += std::to_string(number); }
  void PutOne(DType type) { out_ += hone::ToString(type); }
  void PutOne(const Expr& e) { Print(e); }
  void PutOne(const Var& v) { out_ += Name(v.node(), v.name()); }
  void PutOne(const Buffer& b) { out_ += Name(b.get(), b.name()); }
  void PutOne(const std::vector<Expr>& list) {
    for (size_t i = 0; i < list.size(); ++i) Put(i ? ", " : "", list[i]);
  }
  const std::string& Name(const void* node, const std::string& wanted);
  void Operator(const Binary& op, int context);
  void Body(const Stmt& s);  // "{\n", s one deeper, "}"
  void Branch(const If& op);

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

std::string IntText(DType type, int64_t value) {
  if (type.is_bool()) return value ? "true" : "false";
  const std::string text = type.is_uint() ? std::to_string(static_cast<uint64_t>(value)) : std::to_string(value);
  return type == DType::Int(64) ? text : fmt::format("{}({})", hone::ToString(type), text);
}

void Printer::Operator(const Binary& op, int context) {
  const char* text = OperatorText(op.kind);
  if (op.kind == ExprKind::kMin || op.kind == ExprKind::kMax) return Put(text, "(", op.a, ", ", op.b, ")");
  int own = Precedence(op.kind);
  if (own < context) Put("(");
  // Comparisons do not chain; the others associate to the left. Operands of shifts have parentheses, as few readers
  // know their place.
  Print(op.a, own == kShift ? kUnary : own == kComparison ? own + 1 : own);
  const int64_t* constant = AsIntImm(op.b);
  if (op.kind == ExprKind::kAdd && op.type == DType::Int(64) && constant && *constant < 0 && *constant != INT64_MIN) {
    Put(" - ", -*constant);  // sums keep their constant as an addend; a difference is easier to read
  } else {
    Put(own == kProduct ? text : fmt::format(" {} ", text));
    Print(op.b, own == kShift ? kUnary : own + 1);
  }
  if (own < context) Put(")");
}

void Printer::Print(const Expr& e, int context) {
  if (!e.defined()) return Put("null");
  if (const auto* op = e.as<IntImm>()) return Put(IntText(op->type, op->value));
  if (const auto* op = e.as<FloatImm>()) return Put(FloatText(op->type, op->value));
  if (const auto* op = e.as<VarNode>()) return Put(Name(op, op->name));
  if (const auto* op = e.as<Cast>()) return Put(op->type, "(", op->value, ")");
  if (const auto* op = e.as<Binary>()) return Operator(*op, context);
  if (const auto* op = e.as<Not>()) {
    Put("!");
    return Print(op->a, kUnary);
  }
  if (const auto* op = e.as<Select>()) {
    return Put("select(", op->condition, ", ", op->if_true, ", ", op->if_false, ")");
  }
  if (const auto* op = e.as<Load>()) return Put(op->buffer, "[", op->index, "]");
  if (const auto* op = e.as<Ramp>()) return Put("ramp(", op->base, ", ", op->stride, ", ", op->type.lanes, ")");
  if (const auto* op = e.as<Broadcast>()) return Put("broadcast(", op->value, ", ", op->type.lanes, ")");
  if (const auto* op = e.as<Call>()) return Put(IntrinsicName(op->fn), "(", op->args, ")");
  if (const auto* op = e.as<Access>()) return Put(op->tensor->name, "(", op->indices, ")");
  if (const auto* op = e.as<Reduce>()) {
    Put(ReducerName(op->reducer), "(", op->body);
    for (const IterVar& axis : op->axes) Put(", ", axis.var, ": ", axis.extent);
    Put(")");
  }
}

void Printer::Body(const Stmt& s) {
  Put("{\n");
  ++depth_;
  Print(s);
  --depth_;
  Put(std::string(2 * static_cast<size_t>(depth_), ' '), "}");
}

void Printer::Branch(const If& op) {
  Put("if (", op.condition, ") ");
  Body(op.then_case);
  if (!op.else_case.defined()) return;
  Put(" else ");
  if (const auto* chained = op.else_case.as<If>()) return Branch(*chained);
  Body(op.else_case);
}

void Printer::Print(const Stmt& s) {
  if (!s.defined()) return;
  if (const auto* block = s.as<Block>()) {
    for (const Stmt& child : block->stmts) Print(child);
    return;
  }
  Put(std::string(2 * static_cast<size_t>(depth_), ' '));
  if (const auto* store = s.as<Store>()) {
    Put(store->buffer, "[", store->index, "] = ", store->value, ";");
  } else if (const auto* loop = s.as<For>()) {
    const std::string kind = ForKindName(loop->for_kind);
    Put("for ", kind, kind.empty() ? "(" : " (", loop->var, ", ", loop->min, ", ", loop->extent, ") ");
    Body(loop->body);
  } else if (const auto* branch = s.as<If>()) {
    Branch(*branch);
  } else if (const auto* alloc = s.as<Allocate>()) {
    const BufferNode& b = *alloc->buffer.get();
    Put("allocate ", alloc->buffer, ": ", b.type, "[", b.size, "] ", ScopeName(b.scope), " ");
    Body(alloc->body);
  } else if (const auto* eval = s.as<Evaluate>()) {
    Put(eval->value, ";");
  } else if (const auto* pragma = s.as<Pragma>()) {
    Put("pragma ", pragma->key, " ", pragma->value, " ");
    Body(pragma->body);
  } else {
    Put("barrier;");
  }
  Put("\n");
}

void Printer::Print(const Function& f) {
  Put("function ", f.name, "(");
  for (size_t i = 0; i < f.params.size(); ++i) {
    const Buffer& b = f.params[i];
    Put(i ? ", " : "", b->written ? "out " : "", b, ": ", b->type, "[", b->size, "]");
  }
  Put(") ");
  Body(f.body);
  Put("\n");
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
  static constexpr const char* kNames[] = {"",           "parallel",   "vectorized",  "unrolled",    "blockIdx.x",
                                           "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z",
                                           "vthread"};
  return kNames[static_cast<size_t>(kind)];
}

const char* ScopeName(Scope scope) {
  static constexpr const char* kNames[] = {"argument", "workspace", "scratch", "register", "shared"};
  return kNames[static_cast<size_t>(scope)];
}

const char* IntrinsicName(Intrinsic fn) {
  static constexpr const char* kNames[] = {"exp",      "log",  "sqrt",     "tanh", "erf", "abs",
                                           "floor",    "ceil", "round",    "pow",  "fma", "if_then_else",
                                           "prefetch", "tf32", "mma_tf32", "dot4"};
  return kNames[static_cast<size_t>(fn)];
}

const char* ReducerName(Reducer reducer) {
  static constexpr const char* kNames[] = {"sum", "max", "min"};
  return kNames[static_cast<size_t>(reducer)];
}

const char* OperatorText(ExprKind kind) {
  static constexpr const char* kTexts[] = {"+",  "-",  "*", "/",  "%", "<<", ">>", "min", "max",
                                           "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
  return kTexts[static_cast<size_t>(kind) - static_cast<size_t>(ExprKind::kAdd)];
}

}  // namespace hone::ir
