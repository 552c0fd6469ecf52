#include "ir/interpreter_ops.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "ir/interpreter_device.h"
#include "ir/printer.h"
#include "ir/scalar.h"

namespace hone::ir::interp {
namespace {

struct Constant final : Op {
  Constant(int n, Slot value) : Op(n) {
    for (Slot& s : out) s = value;
    leaf = true;
  }
  void Eval() override {}
};

struct Variable final : Op {
  explicit Variable(std::shared_ptr<std::vector<Slot>> v) : Op(static_cast<int>(v->size())), value(std::move(v)) {}
  void Eval() override { out = *value; }
  std::shared_ptr<std::vector<Slot>> value;
};

struct ScalarVariable final : Op {
  explicit ScalarVariable(std::shared_ptr<std::vector<Slot>> v) : Op(1), value(std::move(v)), place(value->data()) {}
  void Eval() override { out[0] = *place; }
  std::shared_ptr<std::vector<Slot>> value;
  const Slot* place;
};

// A sum of constant multiples of scalar variables: nearly every index, in one step.
struct LinearOp final : Op {
  struct Term {
    std::shared_ptr<std::vector<Slot>> value;
    const Slot* place;
    uint64_t factor;
  };
  LinearOp() : Op(1) {}
  void Eval() override {
    uint64_t sum = constant;
    for (const Term& t : terms) sum += static_cast<uint64_t>(t.place->i) * t.factor;
    out[0].i = static_cast<int64_t>(sum);
  }
  // False if `e` is not of this form.
  bool Collect(const Expr& e, uint64_t factor, const Scope& scope) {
    if (const int64_t* value = AsIntImm(e)) {
      constant += static_cast<uint64_t>(*value) * factor;
      return true;
    }
    if (const auto* var = e.as<VarNode>()) {
      auto it = scope.vars.find(var);
      if (it == scope.vars.end()) return false;
      terms.push_back({it->second, it->second->data(), factor});
      return true;
    }
    const auto* op = e.as<Binary>();
    if (!op) return false;
    if (op->kind == ExprKind::kAdd) return Collect(op->a, factor, scope) && Collect(op->b, factor, scope);
    if (op->kind == ExprKind::kSub) return Collect(op->a, factor, scope) && Collect(op->b, 0 - factor, scope);
    const int64_t* by = op->kind == ExprKind::kMul ? AsIntImm(op->b) : nullptr;
    return by && Collect(op->a, factor * static_cast<uint64_t>(*by), scope);
  }
  std::vector<Term> terms;
  uint64_t constant = 0;
};

// Lane by lane from one, two or three operands, by a function object.
template <typename F>
struct Map1 final : Op {
  Map1(int n, OpPtr x, F f) : Op(n), a(std::move(x)), fn(f) {}
  void Eval() override {
    const Slot* x = a->Value();
    for (int i = 0; i < lanes; ++i) out[i] = fn(x[i]);
  }
  OpPtr a;
  F fn;
};
template <typename F>
struct Map2 final : Op {
  Map2(int n, OpPtr x, OpPtr y, F f) : Op(n), a(std::move(x)), b(std::move(y)), fn(f) {}
  void Eval() override {
    const Slot *x = a->Value(), *y = b->Value();
    for (int i = 0; i < lanes; ++i) out[i] = fn(x[i], y[i]);
  }
  OpPtr a, b;
  F fn;
};
template <typename F>
struct Map3 final : Op {
  Map3(int n, OpPtr x, OpPtr y, OpPtr z, F f) : Op(n), a(std::move(x)), b(std::move(y)), c(std::move(z)), fn(f) {}
  void Eval() override {
    const Slot *x = a->Value(), *y = b->Value(), *z = c->Value();
    for (int i = 0; i < lanes; ++i) out[i] = fn(x[i], y[i], z[i]);
  }
  OpPtr a, b, c;
  F fn;
};

template <typename F>
OpPtr Map(int n, OpPtr a, F f) {
  return std::make_unique<Map1<F>>(n, std::move(a), f);
}
template <typename F>
OpPtr Map(int n, OpPtr a, OpPtr b, F f) {
  return std::make_unique<Map2<F>>(n, std::move(a), std::move(b), f);
}
template <typename F>
OpPtr Map(int n, OpPtr a, OpPtr b, OpPtr c, F f) {
  return std::make_unique<Map3<F>>(n, std::move(a), std::move(b), std::move(c), f);
}

Slot Int(int64_t v) {
  Slot s;
  s.i = v;
  return s;
}
Slot Float(double v) {
  Slot s;
  s.f = v;
  return s;
}

// The kinds that make up nearly all of a kernel, without a switch a lane.
template <typename F>
OpPtr Rounded(DType type, OpPtr a, OpPtr b, F f) {
  int n = type.lanes;
  if (type.bits == 64) return Map(n, std::move(a), std::move(b), [f](Slot x, Slot y) { return Float(f(x.f, y.f)); });
  if (type.bits == 32) {
    return Map(n, std::move(a), std::move(b), [f](Slot x, Slot y) { return Float(static_cast<float>(f(x.f, y.f))); });
  }
  return Map(n, std::move(a), std::move(b), [f, type](Slot x, Slot y) { return Float(RoundFloat(type, f(x.f, y.f))); });
}

OpPtr CompileFloatBinary(const Binary& op, OpPtr a, OpPtr b) {
  DType type = op.a.type();
  switch (op.kind) {
    case ExprKind::kAdd:
      return Rounded(type, std::move(a), std::move(b), [](double x, double y) { return x + y; });
    case ExprKind::kSub:
      return Rounded(type, std::move(a), std::move(b), [](double x, double y) { return x - y; });
    case ExprKind::kMul:
      return Rounded(type, std::move(a), std::move(b), [](double x, double y) { return x * y; });
    case ExprKind::kDiv:
      return Rounded(type, std::move(a), std::move(b), [](double x, double y) { return x / y; });
    case ExprKind::kMin:
      return Rounded(type, std::move(a), std::move(b), [](double x, double y) { return x < y ? x : y; });
    case ExprKind::kMax:
      return Rounded(type, std::move(a), std::move(b), [](double x, double y) { return x > y ? x : y; });
    default:
      break;
  }
  ExprKind kind = op.kind;
  return Map(type.lanes, std::move(a), std::move(b),
             [kind](Slot x, Slot y) { return Int(CompareFloat(kind, x.f, y.f)); });
}

OpPtr CompileIntBinary(const Binary& op, OpPtr a, OpPtr b, Failure* failure) {
  DType type = op.a.type().element();
  int n = op.type.lanes;
  uint64_t wide = type == DType::Int(64);
  if (wide && op.kind == ExprKind::kAdd) {
    return Map(n, std::move(a), std::move(b), [](Slot x, Slot y) {
      return Int(static_cast<int64_t>(static_cast<uint64_t>(x.i) + static_cast<uint64_t>(y.i)));
    });
  }
  if (wide && op.kind == ExprKind::kMul) {
    return Map(n, std::move(a), std::move(b), [](Slot x, Slot y) {
      return Int(static_cast<int64_t>(static_cast<uint64_t>(x.i) * static_cast<uint64_t>(y.i)));
    });
  }
  ExprKind kind = op.kind;
  if (kind == ExprKind::kDiv || kind == ExprKind::kMod) {
    return Map(n, std::move(a), std::move(b), [kind, type, failure](Slot x, Slot y) {
      if (y.i == 0) {
        failure->Set("integer division by 0");
        return Int(0);
      }
      return Int(EvalInt(kind, type, x.i, y.i));
    });
  }
  return Map(n, std::move(a), std::move(b),
             [kind, type](Slot x, Slot y) { return Int(EvalInt(kind, type, x.i, y.i)); });
}

struct RampOp final : Op {
  RampOp(int n, OpPtr b, OpPtr s, DType t) : Op(n), base(std::move(b)), stride(std::move(s)), type(t) {}
  void Eval() override {
    uint64_t at = static_cast<uint64_t>(base->Value()[0].i), step = static_cast<uint64_t>(stride->Value()[0].i);
    for (int i = 0; i < lanes; ++i, at += step) out[i].i = WrapInt(type, static_cast<int64_t>(at));
  }
  OpPtr base, stride;
  DType type;
};

struct LoadOp final : Op {
  LoadOp(BufferState* b, OpPtr i, Failure* f) : Op(i->lanes), buffer(b), places(std::move(i)), failure(f) {}
  void Eval() override {
    const int64_t bytes = buffer->type.element_bytes();
    if (places.Find()) {
      if (!InBounds(places.first, 0) || !InBounds(places.first + lanes - 1, lanes - 1)) return;
      if (!buffer->written.empty()) {
        const uint8_t* start = &buffer->written[static_cast<size_t>(places.first)];
        if (const void* hole = std::memchr(start, 0, static_cast<size_t>(lanes))) {
          int64_t lane = static_cast<const uint8_t*>(hole) - start;
          Fail("not written before", places.first + lane, static_cast<int>(lane));
          return;
        }
      }
      if (buffer->race) buffer->race->Read(places.first, lanes);
      return ReadElements(buffer->type, buffer->data + bytes * places.first, lanes, out.data());
    }
    for (int i = 0; i < lanes; ++i) {
      const int64_t k = places.at[i].i;
      if (!Check(k, i)) return;
      if (buffer->race) buffer->race->Read(k, 1);
      ReadElements(buffer->type, buffer->data + bytes * k, 1, &out[i]);
    }
  }
  bool InBounds(int64_t k, int lane) {
    return static_cast<uint64_t>(k) < static_cast<uint64_t>(buffer->size) || Fail("out of bounds", k, lane);
  }
  bool Check(int64_t k, int lane) {
    if (!InBounds(k, lane)) return false;
    if (!buffer->written.empty() && !buffer->written[static_cast<size_t>(k)])
      return Fail("not written before", k, lane);
    return true;
  }
  bool Fail(const char* what, int64_t k, int lane) {
    std::string where = lanes > 1 ? fmt::format(" (lane {})", lane) : "";
    failure->Set(fmt::format("load of `{}` at index {}{}: {}, size {}", buffer->name, k, where, what, buffer->size));
    for (Slot& s : out) s.i = 0;
    return false;
  }
  BufferState* buffer;
  Places places;
  Failure* failure;
};

struct BroadcastOp final : Op {
  BroadcastOp(int n, OpPtr v) : Op(n), value(std::move(v)) {}
  void Eval() override {
    Slot v = value->Value()[0];
    for (Slot& s : out) s = v;
  }
  OpPtr value;
};

struct IfThenElseOp final : Op {
  IfThenElseOp(OpPtr c, OpPtr t, OpPtr f)
      : Op(t->lanes), condition(std::move(c)), if_true(std::move(t)), if_false(std::move(f)) {}
  void Eval() override {
    const Slot* v = (condition->Value()[0].i ? if_true : if_false)->Value();
    for (int i = 0; i < lanes; ++i) out[i] = v[i];
  }
  OpPtr condition, if_true, if_false;
};

struct LetOp final : Op {
  LetOp(std::shared_ptr<std::vector<Slot>> p, OpPtr v, OpPtr b)
      : Op(b->lanes), place(std::move(p)), value(std::move(v)), body(std::move(b)) {}
  void Eval() override {
    const Slot* v = value->Value();
    for (size_t i = 0; i < place->size(); ++i) (*place)[i] = v[i];
    const Slot* b = body->Value();
    for (int i = 0; i < lanes; ++i) out[i] = b[i];
  }
  std::shared_ptr<std::vector<Slot>> place;
  OpPtr value, body;
};

double Apply(Intrinsic fn, double x, double y) {
  switch (fn) {
    case Intrinsic::kExp:
      return std::exp(x);
    case Intrinsic::kLog:
      return std::log(x);
    case Intrinsic::kSqrt:
      return std::sqrt(x);
    case Intrinsic::kTanh:
      return std::tanh(x);
    case Intrinsic::kErf:
      return std::erf(x);
    case Intrinsic::kAbs:
      return std::fabs(x);
    case Intrinsic::kFloor:
      return std::floor(x);
    case Intrinsic::kCeil:
      return std::ceil(x);
    case Intrinsic::kRound:
      return std::nearbyint(x);
    case Intrinsic::kTf32:
      return RoundTf32(x);
    case Intrinsic::kPow:
      return std::pow(x, y);
    default:
      return 0;
  }
}

OpPtr Zero(int lanes) { return std::make_unique<Constant>(lanes, Int(0)); }

OpPtr CompileCall(const Call& op, Scope* scope) {
  int n = op.type.lanes;
  // An address may lie anywhere: a prefetch reads nothing.
  if (op.fn == Intrinsic::kPrefetch) return Zero(1);
  if (op.fn == Intrinsic::kMmaTf32) {
    scope->failure->Set("mma_tf32 is what the threads of a device's warp do together");
    scope->failure->unsupported = true;
    return Zero(n);
  }
  OpPtr a = Compile(op.args[0], scope);
  if (op.fn == Intrinsic::kIfThenElse) {
    return std::make_unique<IfThenElseOp>(std::move(a), Compile(op.args[1], scope), Compile(op.args[2], scope));
  }
  DType type = op.type.element();
  if (!type.is_float()) {
    scope->failure->Set(fmt::format("{} is defined on floats, not on {}", IntrinsicName(op.fn), ToString(type)));
    return Zero(n);
  }
  if (op.fn == Intrinsic::kFma) {
    OpPtr b = Compile(op.args[1], scope), c = Compile(op.args[2], scope);
    return Map(n, std::move(a), std::move(b), std::move(c), [type](Slot x, Slot y, Slot z) {
      if (type.bits == 32)
        return Float(std::fma(static_cast<float>(x.f), static_cast<float>(y.f), static_cast<float>(z.f)));
      return Float(RoundFloat(type, std::fma(x.f, y.f, z.f)));
    });
  }
  Intrinsic fn = op.fn;
  if (fn == Intrinsic::kPow) {
    OpPtr b = Compile(op.args[1], scope);
    return Map(n, std::move(a), std::move(b),
               [fn, type](Slot x, Slot y) { return Float(RoundFloat(type, Apply(fn, x.f, y.f))); });
  }
  return Map(n, std::move(a), [fn, type](Slot x) { return Float(RoundFloat(type, Apply(fn, x.f, 0))); });
}

OpPtr CompileCast(const Cast& op, OpPtr value) {
  DType from = op.value.type().element(), to = op.type.element();
  int n = op.type.lanes;
  if (from.is_float() && to.is_float())
    return Map(n, std::move(value), [to](Slot x) { return Float(RoundFloat(to, x.f)); });
  if (from.is_float()) return Map(n, std::move(value), [to](Slot x) { return Int(CastFloatToInt(to, x.f)); });
  if (to.is_float())
    return Map(n, std::move(value), [from, to](Slot x) { return Float(CastIntToFloat(from, to, x.i)); });
  return Map(n, std::move(value), [to](Slot x) { return Int(WrapInt(to, x.i)); });
}

}  // namespace

Places::Places(OpPtr i) : index(std::move(i)) {
  auto* ramp = dynamic_cast<RampOp*>(index.get());
  if (ramp && ramp->stride->leaf && ramp->stride->Value()[0].i == 1 && ramp->type == DType::Int(64))
    base = ramp->base.get();
}

bool Places::Find() {
  if (base) {
    first = base->Value()[0].i;
    return true;
  }
  at = index->Value();
  return false;
}

OpPtr Compile(const Expr& e, Scope* scope) {
  int n = e.type().lanes;
  if (const auto* op = e.as<IntImm>()) return std::make_unique<Constant>(n, Int(op->value));
  if (const auto* op = e.as<FloatImm>()) return std::make_unique<Constant>(n, Float(op->value));
  if (const auto* op = e.as<VarNode>()) {
    auto it = scope->vars.find(op);
    if (it == scope->vars.end()) {
      scope->failure->Set(fmt::format("variable `{}` is used where it is not defined", op->name));
      return Zero(n);
    }
    if (n == 1) return std::make_unique<ScalarVariable>(it->second);
    return std::make_unique<Variable>(it->second);
  }
  if (const auto* op = e.as<Cast>()) return CompileCast(*op, Compile(op->value, scope));
  if (const auto* op = e.as<Binary>()) {
    if (e.type() == DType::Int(64)) {
      auto linear = std::make_unique<LinearOp>();
      if (linear->Collect(e, 1, *scope)) return linear;
    }
    OpPtr a = Compile(op->a, scope), b = Compile(op->b, scope);
    if (op->a.type().is_float()) return CompileFloatBinary(*op, std::move(a), std::move(b));
    return CompileIntBinary(*op, std::move(a), std::move(b), scope->failure);
  }
  if (const auto* op = e.as<Not>()) return Map(n, Compile(op->a, scope), [](Slot x) { return Int(!x.i); });
  if (const auto* op = e.as<Select>()) {
    return Map(n, Compile(op->condition, scope), Compile(op->if_true, scope), Compile(op->if_false, scope),
               [](Slot c, Slot t, Slot f) { return c.i ? t : f; });
  }
  if (const auto* op = e.as<Load>()) {
    auto it = scope->buffers.find(op->buffer.get());
    if (it != scope->buffers.end())
      return std::make_unique<LoadOp>(it->second, Compile(op->index, scope), scope->failure);
    scope->failure->Set(
        fmt::format("load of `{}`, which is neither a parameter nor allocated there", op->buffer.name()));
    return Zero(n);
  }
  if (const auto* op = e.as<Ramp>()) {
    return std::make_unique<RampOp>(n, Compile(op->base, scope), Compile(op->stride, scope), op->type.element());
  }
  if (const auto* op = e.as<Broadcast>()) return std::make_unique<BroadcastOp>(n, Compile(op->value, scope));
  if (const auto* op = e.as<Call>()) return CompileCall(*op, scope);
  if (const auto* op = e.as<Let>()) {
    OpPtr value = Compile(op->value, scope);
    auto place = std::make_shared<std::vector<Slot>>(op->var.type().lanes);
    scope->vars[op->var.node()] = place;
    OpPtr body = Compile(op->body, scope);
    scope->vars.erase(op->var.node());
    return std::make_unique<LetOp>(std::move(place), std::move(value), std::move(body));
  }
  scope->failure->Set(fmt::format("`{}` belongs to tensor expressions; lower them first", ToString(e)));
  scope->failure->unsupported = true;
  return Zero(n);
}

}  // namespace hone::ir::interp
