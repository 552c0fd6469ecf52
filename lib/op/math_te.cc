#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include "base/check.h"
#include "op/plain_te.h"
#include "te/tensor.h"

namespace hone::op {

using ir::Expr;
using ir::Intrinsic;

namespace {

constexpr double kPi = std::numbers::pi;

Expr Exp(Expr x) { return CallMath(Intrinsic::kExp, x); }
Expr Log(Expr x) { return CallMath(Intrinsic::kLog, x); }
Expr Sqrt(Expr x) { return CallMath(Intrinsic::kSqrt, x); }
Expr Abs(Expr x) { return CallMath(Intrinsic::kAbs, x); }
Expr Floor(Expr x) { return CallMath(Intrinsic::kFloor, x); }
Expr Tanh(Expr x) { return CallMath(Intrinsic::kTanh, x); }
Expr Fma(Expr a, Expr b, Expr c) { return ir::MakeCall(DType::Float(32), Intrinsic::kFma, {a, b, c}); }

// c[0] + x * (c[1] + x * ..)
Expr Polynomial(Expr x, const std::vector<double>& c) {
  Expr sum = Float(c.back());
  for (size_t i = c.size() - 1; i-- > 0;) sum = Fma(sum, x, Float(c[i]));
  return sum;
}

// log(1 + u) without the rounding error of 1 + u: w = 1 + u, rounded, and log(w) * u / (w - 1).
Expr Log1p(Expr u) {
  Expr w = Float(1) + u, less = w - Float(1);
  Expr precise = Log(w) * (u / less);
  Expr near = ir::MakeSelect(ir::Eq(less, Float(0)), u, precise);
  return ir::MakeSelect(w < Float(1e30), near, Log(w));
}

Expr Softplus(Expr x) { return AtLeast(x, 0) + Log1p(Exp(Float(0) - Abs(x))); }

// x = k pi/2 + r with |r| <= pi/4, with pi/2 in three parts so that k times each is exact; Taylor series of sine and
// cosine at r, selected and signed by k modulo 4. Accurate up to about |x| = 1e5.
Expr SinCos(Expr x, int quarter) {
  Expr k = CallMath(Intrinsic::kRound, x * Float(2 / kPi));
  Expr r = Fma(k, Float(-0x1.92p0), x);
  r = Fma(k, Float(-0x1.fb4p-12), r);
  r = Fma(k, Float(-(kPi / 2 - 0x1.92p0 - 0x1.fb4p-12)), r);
  Expr square = r * r;
  Expr sine = Fma(r * square, Polynomial(square, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880}), r);
  Expr cosine = Fma(square, Polynomial(square, {-0.5, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800}), Float(1));
  Expr turned = k + Float(quarter);
  Expr q = turned - Float(4) * Floor(turned * Float(0.25));
  Expr odd = ir::MakeSelect(ir::Eq(q, Float(1)), Float(1), ir::MakeSelect(ir::Eq(q, Float(3)), Float(1), Float(0)));
  Expr value = ir::MakeSelect(odd > Float(0), cosine, sine);
  return ir::MakeSelect(q >= Float(2), Float(0) - value, value);
}

// For 0 <= x <= 1/2, by the series of the arc sine.
Expr SmallAsin(Expr x) {
  std::vector<double> series = {1};
  double c = 1;
  for (int n = 1; n <= 12; ++n) {
    c *= static_cast<double>(2 * n - 1) / (2 * n);
    series.push_back(c / (2 * n + 1));
  }
  return x * Polynomial(x * x, series);
}

Expr WithSignOf(Expr magnitude, Expr x) { return ir::MakeSelect(x < Float(0), Float(0) - magnitude, magnitude); }

Expr Asin(Expr x) {
  Expr a = Abs(x);
  Expr large = Float(kPi / 2) - Float(2) * SmallAsin(Sqrt((Float(1) - a) * Float(0.5)));
  return WithSignOf(ir::MakeSelect(a <= Float(0.5), SmallAsin(a), large), x);
}

Expr Acos(Expr x) {
  Expr a = Abs(x);
  Expr large = Float(2) * SmallAsin(Sqrt((Float(1) - a) * Float(0.5)));
  large = ir::MakeSelect(x < Float(0), Float(kPi) - large, large);
  return ir::MakeSelect(a <= Float(0.5), Float(kPi / 2) - WithSignOf(SmallAsin(a), x), large);
}

// Reduces to 0 .. 1 by 1/x, to |t| <= tan(pi/8) by (t - 1) / (t + 1), then uses the series.
Expr Atan(Expr x) {
  Expr a = Abs(x);
  Expr t = ir::MakeSelect(a > Float(1), Float(1) / a, a);
  Expr far = (t - Float(1)) / (t + Float(1));
  Expr use_far = ir::MakeSelect(t > Float(std::sqrt(2.0) - 1), Float(1), Float(0));
  Expr z = ir::MakeSelect(use_far > Float(0), far, t);
  std::vector<double> series;
  for (int n = 0; n <= 9; ++n) series.push_back((n % 2 ? -1.0 : 1.0) / (2 * n + 1));
  Expr value = z * Polynomial(z * z, series) + use_far * Float(kPi / 4);
  return WithSignOf(ir::MakeSelect(a > Float(1), Float(kPi / 2) - value, value), x);
}

// exp(x) overflows slightly before sinh and cosh do: compute it in two halves there.
Expr Sinh(Expr x) {
  Expr a = Abs(x), half = Exp(a * Float(0.5));
  Expr small = a * Polynomial(x * x, {1, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880});
  Expr middle = Float(0.5) * (Exp(a) - Exp(Float(0) - a));
  Expr large = ir::MakeSelect(a > Float(80), Float(0.5) * half * half, middle);
  return WithSignOf(ir::MakeSelect(a < Float(1), small, large), x);
}

Expr Cosh(Expr x) {
  Expr half = Exp(Abs(x) * Float(0.5));
  return ir::MakeSelect(Abs(x) > Float(80), Float(0.5) * half * half, Float(0.5) * (Exp(x) + Exp(Float(0) - x)));
}

Expr Asinh(Expr x) {
  Expr a = Abs(x);
  Expr near = Log1p(a + a * a / (Float(1) + Sqrt(a * a + Float(1))));
  return WithSignOf(ir::MakeSelect(a > Float(1e9), Log(a) + Float(std::numbers::ln2), near), x);
}

Expr Acosh(Expr x) {
  Expr t = x - Float(1);
  Expr near = Log1p(t + Sqrt(Float(2) * t + t * t));
  return ir::MakeSelect(x > Float(1e9), Log(x) + Float(std::numbers::ln2), near);
}

Expr Atanh(Expr x) {
  Expr a = Abs(x);
  return WithSignOf(Float(0.5) * Log1p(Float(2) * a / (Float(1) - a)), x);
}

// exp(x) - 1 for x < 0: by the series near 0, where the difference would cancel.
Expr Expm1(Expr x) {
  Expr near = x * Polynomial(x, {1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720});
  return ir::MakeSelect(x > Float(-0.25), near, Exp(x) - Float(1));
}

// x P(x^2) / Q(x^2), fitted to erf below 4 with a relative error of 2.5e-8 (3e-7 in single precision); 1 from 3.92 on.
Expr Erf(Expr x) {
  const Expr square = x * x;
  const Expr over = Polynomial(square, {1.1283791065216064, 0.19354571402072906, 0.05310183763504028,
                                        0.0038833722937852144, 0.000284566602203995, 1.9867786704708124e-06});
  const Expr under = Polynomial(square, {1, 0.5048579573631287, 0.11535026878118515, 0.01520730834454298,
                                         0.0011855780612677336, 3.742017361219041e-05});
  return ir::MakeSelect(Abs(x) >= Float(3.92), WithSignOf(Float(1), x), x * over / under);
}

// The approximation is x / 2 (1 + tanh(u)), which is x / (1 + exp(-2 u)).
Expr Gelu(Expr x, bool approximate) {
  if (!approximate) return Float(0.5) * x * (Float(1) + Erf(x * Float(std::numbers::sqrt2 / 2)));
  const Expr u = Float(std::sqrt(2 / kPi)) * (x + Float(0.044715) * x * x * x);
  return x / (Float(1) + Exp(Float(-2) * u));
}

using X = const std::vector<Expr>&;
using A = const std::vector<double>&;

const std::map<std::string, Expr (*)(X, A)>& Table() {
  static const std::map<std::string, Expr (*)(X, A)> table = {
      {"relu", [](X x, A) { return AtLeast(x[0], 0); }},
      {"relu6", [](X x, A) { return AtMost(AtLeast(x[0], 0), 6); }},
      {"sigmoid", [](X x, A) { return Float(1) / (Float(1) + Exp(Float(0) - x[0])); }},
      {"tanh", [](X x, A) { return Tanh(x[0]); }},
      {"exp", [](X x, A) { return Exp(x[0]); }},
      {"identity", [](X x, A) { return x[0]; }},
      {"sqrt", [](X x, A) { return Sqrt(x[0]); }},
      {"log", [](X x, A) { return Log(x[0]); }},
      {"abs", [](X x, A) { return Abs(x[0]); }},
      {"neg", [](X x, A) { return x[0] * Float(-1); }},
      {"reciprocal", [](X x, A) { return Float(1) / x[0]; }},
      {"erf", [](X x, A) { return Erf(x[0]); }},
      {"floor", [](X x, A) { return Floor(x[0]); }},
      {"ceil", [](X x, A) { return CallMath(Intrinsic::kCeil, x[0]); }},
      {"round", [](X x, A) { return CallMath(Intrinsic::kRound, x[0]); }},
      {"sign",
       [](X x, A) {
         return ir::MakeSelect(x[0] > Float(0), Float(1), ir::MakeSelect(x[0] < Float(0), Float(-1), x[0]));
       }},
      {"sin", [](X x, A) { return SinCos(x[0], 0); }},
      {"cos", [](X x, A) { return SinCos(x[0], 1); }},
      {"tan", [](X x, A) { return SinCos(x[0], 0) / SinCos(x[0], 1); }},
      {"asin", [](X x, A) { return Asin(x[0]); }},
      {"acos", [](X x, A) { return Acos(x[0]); }},
      {"atan", [](X x, A) { return Atan(x[0]); }},
      {"sinh", [](X x, A) { return Sinh(x[0]); }},
      {"cosh", [](X x, A) { return Cosh(x[0]); }},
      {"asinh", [](X x, A) { return Asinh(x[0]); }},
      {"acosh", [](X x, A) { return Acosh(x[0]); }},
      {"atanh", [](X x, A) { return Atanh(x[0]); }},
      {"softplus", [](X x, A) { return Softplus(x[0]); }},
      {"softsign", [](X x, A) { return x[0] / (Float(1) + Abs(x[0])); }},
      {"mish", [](X x, A) { return x[0] * Tanh(Softplus(x[0])); }},
      {"hard_swish", [](X x, A) { return x[0] * AtMost(AtLeast(x[0] * Float(1.0 / 6) + Float(0.5), 0), 1); }},
      {"gelu", [](X x, A a) { return Gelu(x[0], a[0] != 0); }},
      {"leaky_relu", [](X x, A a) { return ir::MakeSelect(x[0] < Float(0), x[0] * Float(a[0]), x[0]); }},
      {"elu", [](X x, A a) { return ir::MakeSelect(x[0] < Float(0), Float(a[0]) * Expm1(x[0]), x[0]); }},
      {"celu",
       [](X x, A a) { return ir::MakeSelect(x[0] < Float(0), Float(a[0]) * Expm1(x[0] * Float(1 / a[0])), x[0]); }},
      {"selu", [](X x, A a) { return Float(a[1]) * ir::MakeSelect(x[0] < Float(0), Float(a[0]) * Expm1(x[0]), x[0]); }},
      {"hard_sigmoid", [](X x, A a) { return AtMost(AtLeast(x[0] * Float(a[0]) + Float(a[1]), 0), 1); }},
      {"thresholded_relu", [](X x, A a) { return ir::MakeSelect(x[0] > Float(a[0]), x[0], Float(0)); }},
      {"clip",
       [](X x, A a) {
         Expr value = x[0];
         if (!std::isinf(a[0])) value = AtLeast(value, a[0]);
         return std::isinf(a[1]) ? value : AtMost(value, a[1]);
       }},
      {"add", [](X x, A) { return x[0] + x[1]; }},
      {"sub", [](X x, A) { return x[0] - x[1]; }},
      {"mul", [](X x, A) { return x[0] * x[1]; }},
      {"div", [](X x, A) { return x[0] / x[1]; }},
      {"pow",
       [](X x, A) {
         return ir::MakeCall(DType::Float(32), Intrinsic::kPow, {x[0], x[1]});
       }},
      {"min", [](X x, A) { return te::CombineReduction(ir::Reducer::kMin, x[1], x[0]); }},
      {"max", [](X x, A) { return te::CombineReduction(ir::Reducer::kMax, x[1], x[0]); }},
      {"prelu", [](X x, A) { return ir::MakeSelect(x[0] < Float(0), x[0] * x[1], x[0]); }},
  };
  return table;
}

}  // namespace

Expr Float(double value) { return ir::Imm(DType::Float(32), value); }
Expr CallMath(Intrinsic fn, Expr x) { return ir::MakeCall(DType::Float(32), fn, {std::move(x)}); }

Expr AtLeast(Expr x, double bound) { return ir::Max(Float(bound), x); }
Expr AtMost(Expr x, double bound) { return ir::Min(Float(bound), x); }

Expr ScalarExpr(const char* name, const std::vector<Expr>& x, const std::vector<double>& a) {
  auto found = Table().find(name);
  HONE_CHECK(found != Table().end());  // else semantics/ has a function that is missing here
  return found->second(x, a);
}

}  // namespace hone::op
