// The inline elementary functions, compared with the C library's in a wider type over their whole range.
#include <random>

#include "compiled.h"

namespace hone::codegen {
namespace {

using ir::Expr;
using ir::Intrinsic;

template <typename T>
std::vector<T> Apply(Intrinsic fn, DType type, const std::vector<T>& x, const std::vector<T>& y, int lanes,
                     const Target& target) {
  const auto f = Elementwise(type, type, static_cast<int64_t>(x.size()), lanes, [&](const Expr& a, const Expr& b) {
    return ir::MakeCall(type.WithLanes(lanes), fn, fn == Intrinsic::kPow ? std::vector{a, b} : std::vector{a});
  });
  return FromBytes<T>(RunCompiled(f, {ToBytes(x), ToBytes(y), Bytes(x.size() * sizeof(T))}, target).at(2));
}

double Exact(Intrinsic fn, double x, double y) {
  const struct {
    Intrinsic fn;
    double (*of)(double);
  } unary[] = {{Intrinsic::kExp, std::exp},   {Intrinsic::kLog, std::log},     {Intrinsic::kSqrt, std::sqrt},
               {Intrinsic::kTanh, std::tanh}, {Intrinsic::kErf, std::erf},     {Intrinsic::kAbs, std::fabs},
               {Intrinsic::kCeil, std::ceil}, {Intrinsic::kFloor, std::floor}, {Intrinsic::kRound, std::nearbyint}};
  for (const auto& each : unary) {
    if (each.fn == fn) return each.of(x);
  }
  return std::pow(x, y);
}

// Numbers of all magnitudes, near the borders of the approximations, and special values; a multiple of 24 of them.
template <typename T>
std::vector<T> Inputs() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x = {Limits::infinity(),   -Limits::infinity(), Limits::quiet_NaN(), Limits::min(),
                      Limits::denorm_min(), Limits::max(),       Limits::lowest()};
  for (double v :
       {0.0,   -0.0,  1.0,   -1.0,   0.5,    1.5,   2.5,    -0.5,      -2.5,       0.625,     0.6249,    2.4999,
        88.72, 88.73, -87.5, -103.9, -104.5, 709.7, -745.1, 8388607.5, 0.99999994, 1.0000001, 0.49999997}) {
    x.push_back(static_cast<T>(v));
  }
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> near(-6, 6), wide(-110, 110), magnitude(-38, 38);
  for (int i = 0; i < 600; ++i) {
    x.push_back(static_cast<T>(near(random)));
    x.push_back(static_cast<T>(wide(random)));
    x.push_back(static_cast<T>(std::pow(10.0, magnitude(random)) * (i % 2 ? 1 : -1)));
  }
  while (x.size() % 24 != 0) x.push_back(3);
  return x;
}

template <typename T>
void Check(Intrinsic fn, DType type, double tolerance, const std::vector<T>& x, const std::vector<T>& y) {
  std::vector<Target> targets = {HostForTest()};
#if defined(__x86_64__)
  targets.push_back(Baseline());
  if (HostForTest().vector_bytes == 64) {
    targets.push_back(HostForTest());
    targets.back().vector_bytes = 32;
  }
#endif
  for (const Target& target : targets) {
    for (int lanes : {1, 12, 8, 24}) {
      std::vector<T> got = Apply(fn, type, x, y, lanes, target);
      int bad = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        double exact = Exact(fn, static_cast<double>(x[i]), static_cast<double>(y[i]));
        auto expected = static_cast<T>(exact);
        if (std::isnan(expected)) {
          bad += !std::isnan(got[i]);
        } else if (std::isinf(expected) || expected == 0) {
          bad += got[i] != expected || std::signbit(got[i]) != std::signbit(expected);
        } else {
          // Denormal results have fewer digits.
          double slack = tolerance * std::fabs(exact) + 2.0 * static_cast<double>(std::numeric_limits<T>::denorm_min());
          bad += !(std::fabs(static_cast<double>(got[i]) - exact) <= slack);
        }
        if (bad == 1) {
          ADD_FAILURE() << "function " << static_cast<int>(fn) << " of " << ToString(type) << ", " << lanes
                        << " lanes, " << target.cpu << ": at " << x[i] << ", " << y[i] << " got " << got[i]
                        << ", expected " << exact;
          return;
        }
      }
    }
  }
}

const Intrinsic kApproximate[] = {Intrinsic::kExp, Intrinsic::kLog, Intrinsic::kTanh, Intrinsic::kErf};
const Intrinsic kExact[] = {Intrinsic::kSqrt, Intrinsic::kAbs, Intrinsic::kFloor, Intrinsic::kCeil, Intrinsic::kRound};

TEST(Math, SinglePrecision) {
  auto x = Inputs<float>();
  for (Intrinsic fn : kApproximate) Check<float>(fn, DType::Float(32), 1e-6, x, x);
  for (Intrinsic fn : kExact) Check<float>(fn, DType::Float(32), 6e-8, x, x);
}

TEST(Math, DoublePrecision) {
  auto x = Inputs<double>();
  for (Intrinsic fn : kApproximate) Check<double>(fn, DType::Float(64), 1e-14, x, x);
  for (Intrinsic fn : kExact) Check<double>(fn, DType::Float(64), 2e-16, x, x);
}

TEST(Math, Pow) {
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<float> x, y;
  for (double a : {0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 10.0, inf, -inf, std::nan("")}) {
    for (double b : {0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 0.5, -2.5, 1e9, 127.0, inf, -inf, std::nan("")}) {
      x.push_back(static_cast<float>(a)), y.push_back(static_cast<float>(b));
    }
  }
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> base(0, 20), exponent(-25, 25);
  while (x.size() < 24 * 40) {
    x.push_back(static_cast<float>(base(random)));
    y.push_back(static_cast<float>(exponent(random)));
  }
  Check<float>(Intrinsic::kPow, DType::Float(32), 1e-6, x, y);
}

// Integers are requantised by it: the same bits with and without an instruction.
TEST(MathTest, FmaRoundsOnce) {
  std::vector<float> a, b, c;
  const auto add = [&](float x, float y, float z) { a.push_back(x), b.push_back(y), c.push_back(z); };
  for (const float sign : {1.0F, -1.0F}) {
    // Half way between two floats, but for a part that no double has beside it.
    for (const float little : {0x1p-60F, -0x1p-60F, 0.0F}) add(sign * (1 + 0x1p-23F), 1.5F, little);
    add(sign * 0x1.fffffep127F, 2, 0), add(sign * INFINITY, 0, 1), add(sign * INFINITY, 1, -INFINITY);
    add(sign, NAN, 1), add(sign * 0x1p-100F, 0x1p-49F, 0), add(sign * 0x1p-75F, 0x1p-75F, 0x1p-126F), add(0, sign, 0);
  }
  std::mt19937_64 random(3);
  std::uniform_real_distribution<float> near(-4, 4);
  while (a.size() < 4096) {
    const float x = near(random), y = near(random);
    add(x, y, a.size() % 2 == 0 ? -x * y : near(random));
  }
  const auto n = static_cast<int64_t>(a.size());
  const DType type = DType::Float(32);
  const ir::Buffer x = Argument("a", type, n), y = Argument("b", type, n), z = Argument("c", type, n),
                   out = Output("out", type, n);
  for (const int lanes : {1, 8}) {
    const ir::Var i("i");
    const Expr at = At(Expr(i) * lanes, lanes);
    const ir::Function f{"f",
                         {x, y, z, out},
                         Loop(i, n / lanes,
                              MakeStore(out, at,
                                        ir::MakeCall(type.WithLanes(lanes), Intrinsic::kFma,
                                                     {MakeLoad(x, at), MakeLoad(y, at), MakeLoad(z, at)})))};
    for (const Target& target : {HostForTest(), Baseline()}) {
      const std::vector<float> got =
          FromBytes<float>(RunCompiled(f, {ToBytes(a), ToBytes(b), ToBytes(c), Bytes(a.size() * 4)}, target).at(3));
      for (size_t e = 0; e < a.size(); ++e) {
        const float want = std::fma(a[e], b[e], c[e]);
        EXPECT_TRUE(std::isnan(want) ? std::isnan(got[e]) : got[e] == want)
            << target.cpu << ": " << a[e] << " * " << b[e] << " + " << c[e] << " is " << want << ", not " << got[e];
      }
    }
  }
}

}  // namespace
}  // namespace hone::codegen
