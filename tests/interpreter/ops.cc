#include "interpreter/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "interpreter/device.h"
#include "interpreter/tf32.h"
#include "ir/printer.h"
#include "ir/scalar.h"

namespace hone::ir::interp {
namespace {

Slot Int(int64_t v) { return {.i = v}; }
Slot Float(double v) { return {.f = v}; }

template <typename F>
struct FunctionOp final : Op {
  FunctionOp(int n, F f) : Op(n), fn(std::move(f)) {}
  void Eval() override { fn(out.data()); }
  F fn;
};
// fn(Slot* out) writes the lanes.
template <typename F>
OpPtr MakeOp(int lanes, F fn) {
  return std::make_shared<FunctionOp<F>>(lanes, std::move(fn));
}

OpPtr Constant(int lanes, Slot value) {
  OpPtr op = MakeOp(lanes, [](Slot*) {});
  std::ranges::fill(op->out, value);
  op->leaf = true;
  return op;
}
OpPtr Zero(int lanes) { return Constant(lanes, Int(0)); }

OpPtr Variable(const Place& place) {
  if (place->size() == 1) return MakeOp(1, [place, value = place->data()](Slot* out) { out[0] = *value; });
  return MakeOp(static_cast<int>(place->size()), [place](Slot* out) { std::ranges::copy(*place, out); });
}

// A sum of constant multiples of scalar variables, evaluated in one step: nearly every index has this form.
struct LinearSum {
  struct Term {
    Place place;
    const Slot* value;
    uint64_t factor;
  };
  void operator()(Slot* out) const {
    uint64_t sum = constant;
    for (const Term& t : terms) sum += static_cast<uint64_t>(t.value->i) * t.factor;
    out[0].i = static_cast<int64_t>(sum);
  }
  // False if `e` does not have this form.
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

// Applies f lane by lane to a slot of each operand; operands are evaluated in order.
template <size_t kCount, typename F>
OpPtr Map(int lanes, const OpPtr (&operands)[kCount], F f) {
  return MakeOp(lanes, [lanes, f, operands = std::to_array(operands)](Slot* out) {
    std::array<const Slot*, kCount> x;
    for (size_t k = 0; k < kCount; ++k) x[k] = operands[k]->Value();
    const auto each = [&]<size_t... k>(std::index_sequence<k...>) {
      for (int i = 0; i < lanes; ++i) out[i] = f(x[k][i]...);
    };
    each(std::make_index_sequence<kCount>());
  });
}

OpPtr CompileFloatBinary(const Binary& op, const OpPtr& a, const OpPtr& b) {
  const DType type = op.a.type().element();
  const ExprKind kind = op.kind;
  const int n = op.type.lanes;
  if (!IsArithmetic(kind)) {
    return Map(n, {a, b}, [kind](Slot x, Slot y) { return Int(CompareFloat(kind, x.f, y.f)); });
  }
  return Map(n, {a, b}, [kind, type](Slot x, Slot y) { return Float(EvalFloat(kind, type, x.f, y.f)); });
}

OpPtr CompileIntBinary(const Binary& op, const OpPtr& a, const OpPtr& b, Failure* failure) {
  const DType type = op.a.type().element();
  const ExprKind kind = op.kind;
  const int n = op.type.lanes;
  if (kind != ExprKind::kDiv && kind != ExprKind::kMod && !IsShift(kind)) {
    return Map(n, {a, b}, [kind, type](Slot x, Slot y) { return Int(EvalInt(kind, type, x.i, y.i)); });
  }
  if (IsShift(kind)) {
    return Map(n, {a, b}, [kind, type, failure](Slot x, Slot y) {
      if (y.i >= 0 && y.i < type.bits) return Int(EvalInt(kind, type, x.i, y.i));
      failure->Set(fmt::format("a shift of {} by {} bits", ToString(type), y.i));
      return Int(0);
    });
  }
  const auto divide = [kind, type, failure](Slot x, Slot y) {
    if (y.i != 0) return Int(EvalInt(kind, type, x.i, y.i));
    failure->Set("integer division by 0");
    return Int(0);
  };
  return Map(n, {a, b}, divide);
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

struct UnaryFunction {
  Intrinsic fn;
  double (*of)(double);
};
const UnaryFunction kFunctions[] = {
    {Intrinsic::kExp, std::exp},     {Intrinsic::kLog, std::log},   {Intrinsic::kSqrt, std::sqrt},
    {Intrinsic::kTanh, std::tanh},   {Intrinsic::kErf, std::erf},   {Intrinsic::kAbs, std::fabs},
    {Intrinsic::kFloor, std::floor}, {Intrinsic::kCeil, std::ceil}, {Intrinsic::kRound, std::nearbyint},
    {Intrinsic::kTf32, RoundTf32},
};

OpPtr CompileCall(const Call& op, Scope* scope) {
  const int n = op.type.lanes;
  // A prefetch reads nothing, so its address need not be valid.
  if (op.fn == Intrinsic::kPrefetch) return Zero(1);
  if (op.fn == Intrinsic::kMmaTf32) {
    scope->failure->Set("mma_tf32 is what the threads of a device's warp do together");
    scope->failure->unsupported = true;
    return Zero(n);
  }
  const OpPtr a = Compile(op.args[0], scope);
  if (op.fn == Intrinsic::kIfThenElse) {
    const OpPtr if_true = Compile(op.args[1], scope), if_false = Compile(op.args[2], scope);
    return MakeOp(if_true->lanes, [=](Slot* out) {
      std::copy_n((a->Value()[0].i ? if_true : if_false)->Value(), if_true->lanes, out);
    });
  }
  if (op.fn == Intrinsic::kDot4) {
    const OpPtr factor = Compile(op.args[1], scope), weight = Compile(op.args[2], scope);
    return MakeOp(n, [=](Slot* out) {
      const Slot *c = a->Value(), *x = factor->Value(), *w = weight->Value();
      for (int i = 0; i < n; ++i) {
        int64_t sum = c[i].i;
        for (int q = 0; q < 4; ++q) sum += x[factor->lanes == 4 ? q : 4 * i + q].i * w[4 * i + q].i;
        out[i].i = WrapInt(DType::Int(32), sum);
      }
    });
  }
  const DType type = op.type.element();
  if (!type.is_float()) {
    scope->failure->Set(fmt::format("{} is defined on floats, not on {}", IntrinsicName(op.fn), ToString(type)));
    return Zero(n);
  }
  if (op.fn == Intrinsic::kFma) {
    const OpPtr b = Compile(op.args[1], scope), c = Compile(op.args[2], scope);
    const auto fma = [type](Slot x, Slot y, Slot z) {
      if (type.bits != 32) return Float(RoundFloat(type, std::fma(x.f, y.f, z.f)));
      return Float(std::fma(static_cast<float>(x.f), static_cast<float>(y.f), static_cast<float>(z.f)));
    };
    return Map(n, {a, b, c}, fma);
  }
  if (op.fn == Intrinsic::kPow) {
    const auto pow = [type](Slot x, Slot y) { return Float(RoundFloat(type, std::pow(x.f, y.f))); };
    return Map(n, {a, Compile(op.args[1], scope)}, pow);
  }
  const auto* function = std::ranges::find(kFunctions, op.fn, &UnaryFunction::fn);
  HONE_CHECK(function != std::end(kFunctions));
  return Map(n, {a}, [type, of = function->of](Slot x) { return Float(RoundFloat(type, of(x.f))); });
}

OpPtr CompileCast(const Cast& op, const OpPtr& value) {
  const DType from = op.value.type().element(), to = op.type.element();
  const int n = op.type.lanes;
  if (from.is_float() && to.is_float()) return Map(n, {value}, [to](Slot x) { return Float(RoundFloat(to, x.f)); });
  if (from.is_float()) return Map(n, {value}, [to](Slot x) { return Int(CastFloatToInt(to, x.f)); });
  if (to.is_float()) return Map(n, {value}, [from, to](Slot x) { return Float(CastIntToFloat(from, to, x.i)); });
  return Map(n, {value}, [to](Slot x) { return Int(WrapInt(to, x.i)); });
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
  const int n = e.type().lanes;
  if (const auto* op = e.as<IntImm>()) return Constant(n, Int(op->value));
  if (const auto* op = e.as<FloatImm>()) return Constant(n, Float(op->value));
  if (const auto* op = e.as<VarNode>()) {
    auto it = scope->vars.find(op);
    if (it != scope->vars.end()) return Variable(it->second);
    scope->failure->Set(fmt::format("variable `{}` is used where it is not defined", op->name));
    return Zero(n);
  }
  if (const auto* op = e.as<Cast>()) return CompileCast(*op, Compile(op->value, scope));
  if (const auto* op = e.as<Binary>()) {
    if (e.type() == DType::Int(64)) {
      LinearSum sum;
      if (sum.Collect(e, 1, *scope)) return MakeOp(1, std::move(sum));
    }
    const OpPtr a = Compile(op->a, scope), b = Compile(op->b, scope);
    return op->a.type().is_float() ? CompileFloatBinary(*op, a, b) : CompileIntBinary(*op, a, b, scope->failure);
  }
  if (const auto* op = e.as<Not>()) return Map(n, {Compile(op->a, scope)}, [](Slot x) { return Int(!x.i); });
  if (const auto* op = e.as<Select>()) {
    const OpPtr condition = Compile(op->condition, scope), if_true = Compile(op->if_true, scope);
    return Map(n, {condition, if_true, Compile(op->if_false, scope)},
               [](Slot c, Slot t, Slot f) { return c.i ? t : f; });
  }
  if (const auto* op = e.as<Load>()) {
    auto it = scope->buffers.find(op->buffer.get());
    if (it != scope->buffers.end()) {
      return std::make_shared<LoadOp>(it->second, Compile(op->index, scope), scope->failure);
    }
    scope->failure->Set(
        fmt::format("load of `{}`, which is neither a parameter nor allocated there", op->buffer.name()));
    return Zero(n);
  }
  if (const auto* op = e.as<Ramp>()) {
    const OpPtr base = Compile(op->base, scope);
    return std::make_shared<RampOp>(n, base, Compile(op->stride, scope), op->type.element());
  }
  if (const auto* op = e.as<Broadcast>()) {
    return MakeOp(n, [n, value = Compile(op->value, scope)](Slot* out) { std::fill_n(out, n, value->Value()[0]); });
  }
  if (const auto* op = e.as<Call>()) return CompileCall(*op, scope);
  scope->failure->Set(fmt::format("`{}` belongs to tensor expressions; lower them first", ToString(e)));
  scope->failure->unsupported = true;
  return Zero(n);
}

}  // namespace hone::ir::interp
