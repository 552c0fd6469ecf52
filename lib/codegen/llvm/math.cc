#include "codegen/llvm/math.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/check.h"

namespace hone::codegen {

using ir::Intrinsic;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// 1/0!, 1/1!, ... up to 1/n!
std::vector<double> InverseFactorials(int n) {
  std::vector<double> result{1.0};
  for (int i = 1; i <= n; ++i) result.push_back(result.back() / i);
  return result;
}

// Every second coefficient, starting at `first`.
std::vector<double> EverySecond(const std::vector<double>& all, size_t first) {
  std::vector<double> result;
  for (size_t i = first; i < all.size(); i += 2) result.push_back(all[i]);
  return result;
}

// Constants that depend on the width of the float.
struct Format {
  int mantissa_bits;
  int bias;
  double round_magic;  // adding it leaves an integer in the low bits
  double ln2_high, ln2_low;
  double exp_low, exp_high;  // beyond these, the result is 0 or infinity
  int exp_terms;
  int log_terms;
  int tanh_terms;
};

const Format& FormatOf(bool is_double) {
  // ln2_high ends in enough zero bits that n * ln2_high is exact.
  static constexpr Format kSingle = {23, 127, 0x1.8p23, 0x1.62e4p-1, 0x1.7f7d1cf79abcap-20, -104.0, 89.0, 7, 5, 11};
  static constexpr Format kDouble = {52, 1023, 0x1.8p52, 0x1.62e42fee00000p-1, 0x1.a39ef35793c76p-33, -746.0, 710.0,
                                     13, 11,   19};
  return is_double ? kDouble : kSingle;
}

}  // namespace

MathEmitter::MathEmitter(llvm::IRBuilder<>* builder, const Target& target) : b_(*builder) {
  const auto& features = target.features;
  bool x86 = target.triple.rfind("x86_64", 0) == 0;
  has_scaling_ =
      x86 && target.vector_bytes == 64 && std::find(features.begin(), features.end(), "avx512f") != features.end();
  has_rounding_ =
      !x86 || target.vector_bytes >= 32 || std::find(features.begin(), features.end(), "sse4.1") != features.end();
  has_fma_ = !x86 || std::find(features.begin(), features.end(), "fma") != features.end();
}

llvm::Type* MathEmitter::Like(V x, llvm::Type* element) const {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

llvm::Type* MathEmitter::BitsType(V x) const { return Like(x, b_.getIntNTy(x->getType()->getScalarSizeInBits())); }

llvm::Value* MathEmitter::Number(V like, double value) { return llvm::ConstantFP::get(like->getType(), value); }
llvm::Value* MathEmitter::Bits(V like, uint64_t value) { return llvm::ConstantInt::get(BitsType(like), value); }
llvm::Value* MathEmitter::Fma(V a, V b, V c) {
  return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {a->getType()}, {a, b, c});
}
// Rounds once on every CPU. Without an instruction for it: the product of two floats is exact as a double. If the sum
// is not, and its last bit is even, its neighbour on the side of the lost part takes its place. A sum that is rounded
// to odd in this way may be rounded again, to a float (Boldo, Melquiond: Emulation of a FMA and correctly rounded sums,
// 2008).
llvm::Value* MathEmitter::FmaRoundedOnce(V a, V b, V c) {
  if (has_fma_ || IsDouble(a)) return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  const auto wide = [&](V x) { return b_.CreateFPExt(x, Like(x, b_.getDoubleTy())); };
  const V product = b_.CreateFMul(wide(a), wide(b)), addend = wide(c), sum = b_.CreateFAdd(product, addend);
  const V back = b_.CreateFSub(sum, product);
  const V lost = b_.CreateFAdd(b_.CreateFSub(product, b_.CreateFSub(sum, back)), b_.CreateFSub(addend, back));
  const V bits = b_.CreateBitCast(sum, BitsType(sum)), zero = Number(sum, 0);
  const V even = b_.CreateICmpEQ(b_.CreateAnd(bits, Bits(sum, 1)), Bits(sum, 0));
  const V away = b_.CreateICmpEQ(b_.CreateFCmpOGT(lost, zero), b_.CreateFCmpOGT(sum, zero));
  const V odd = b_.CreateAdd(bits, b_.CreateSelect(away, Bits(sum, 1), Bits(sum, ~uint64_t{0})));
  const V rounded = b_.CreateSelect(b_.CreateAnd(b_.CreateFCmpONE(lost, zero), even), odd, bits);
  return b_.CreateFPTrunc(b_.CreateBitCast(rounded, sum->getType()), a->getType());
}
llvm::Value* MathEmitter::Unary(llvm::Intrinsic::ID id, V x) { return b_.CreateUnaryIntrinsic(id, x); }

llvm::Value* MathEmitter::Polynomial(V x, const std::vector<double>& coefficients) {
  V sum = Number(x, coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) sum = Fma(sum, x, Number(x, coefficients[i]));
  return sum;
}

// p * 2^n by AVX-512's instruction, for any number of lanes.
llvm::Value* MathEmitter::Scale(V p, V n) {
  constexpr int kLanes = 16;
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(p->getType());
  const int lanes = vector ? static_cast<int>(vector->getNumElements()) : 1;
  auto* wide = llvm::FixedVectorType::get(b_.getFloatTy(), kLanes);
  const auto part = [&](V x, int first) -> V {
    if (!vector) return b_.CreateInsertElement(llvm::PoisonValue::get(wide), x, uint64_t{0});
    std::vector<int> pattern(kLanes, -1);
    for (int i = 0; i < kLanes && first + i < lanes; ++i) pattern[static_cast<size_t>(i)] = first + i;
    return b_.CreateShuffleVector(x, pattern);
  };
  std::vector<V> parts;
  for (int first = 0; first < lanes; first += kLanes) {
    V a = part(p, first), b = part(n, first);
    parts.push_back(b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                                       {a, b, a, b_.getInt16(-1), b_.getInt32(4)}));
  }
  if (!vector) return b_.CreateExtractElement(parts[0], uint64_t{0});
  V all = llvm::concatenateVectors(b_, parts);
  std::vector<int> pattern(static_cast<size_t>(lanes));
  std::iota(pattern.begin(), pattern.end(), 0);
  return b_.CreateShuffleVector(all, pattern);
}

// x = n ln 2 + r with |r| <= ln 2 / 2; exp(x) = 2^n * Taylor series of exp(r). Multiplies by 2^n in two halves, so that
// denormal results and overflow to infinity are right; one instruction of AVX-512 does that at once.
llvm::Value* MathEmitter::Exp(V x) {
  const Format& f = FormatOf(IsDouble(x));
  // As maximum and minimum that keep a NaN, an instruction each.
  V above = b_.CreateSelect(b_.CreateFCmpOLT(x, Number(x, f.exp_low)), Number(x, f.exp_low), x);
  V t = b_.CreateSelect(b_.CreateFCmpOGT(above, Number(x, f.exp_high)), Number(x, f.exp_high), above);
  V shifted = Fma(t, Number(x, std::numbers::log2e), Number(x, f.round_magic));
  V n = b_.CreateFSub(shifted, Number(x, f.round_magic));
  V r = Fma(n, Number(x, -f.ln2_low), Fma(n, Number(x, -f.ln2_high), t));
  V p = Polynomial(r, InverseFactorials(f.exp_terms));
  if (has_scaling_ && !IsDouble(x)) return Scale(p, n);
  // The bits of the shifted number are those of the magic number plus n.
  V magic_bits = b_.CreateBitCast(Number(x, f.round_magic), BitsType(x));
  V n_bits = b_.CreateSub(b_.CreateBitCast(shifted, BitsType(x)), magic_bits);
  V half = b_.CreateAShr(n_bits, Bits(x, 1));
  auto power = [&](V e) {
    V bits = b_.CreateShl(b_.CreateAdd(e, Bits(x, f.bias)), Bits(x, f.mantissa_bits));
    return b_.CreateBitCast(bits, x->getType());
  };
  return b_.CreateFMul(b_.CreateFMul(p, power(half)), power(b_.CreateSub(n_bits, half)));
}

// x = m 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m - 1) / (m + 1), by the series of atanh.
llvm::Value* MathEmitter::Log(V x) {
  const Format& f = FormatOf(IsDouble(x));
  double least_normal = std::ldexp(1.0, 1 - f.bias);
  const int up = 32 + f.mantissa_bits / 2;
  V tiny = b_.CreateFCmpOLT(x, Number(x, least_normal));
  V scaled = b_.CreateSelect(tiny, b_.CreateFMul(x, Number(x, std::ldexp(1.0, up))), x);
  V scale = b_.CreateSelect(tiny, Number(x, -up), Number(x, 0.0));
  V bits = b_.CreateBitCast(scaled, BitsType(x));
  uint64_t root = IsDouble(x) ? std::bit_cast<uint64_t>(std::numbers::sqrt2 / 2)
                              : std::bit_cast<uint32_t>(static_cast<float>(std::numbers::sqrt2 / 2));
  V e = b_.CreateAShr(b_.CreateSub(bits, Bits(x, root)), Bits(x, f.mantissa_bits));
  V m = b_.CreateBitCast(b_.CreateSub(bits, b_.CreateShl(e, Bits(x, f.mantissa_bits))), x->getType());
  V exponent = b_.CreateFAdd(b_.CreateSIToFP(e, x->getType()), scale);
  V s = b_.CreateFDiv(b_.CreateFSub(m, Number(x, 1.0)), b_.CreateFAdd(m, Number(x, 1.0)));
  std::vector<double> series;
  for (int i = 0; i < f.log_terms; ++i) series.push_back(2.0 / (2 * i + 1));
  V log_m = b_.CreateFMul(s, Polynomial(b_.CreateFMul(s, s), series));
  V result = Fma(exponent, Number(x, f.ln2_high), Fma(exponent, Number(x, f.ln2_low), log_m));
  // 0 gives -infinity, negative numbers NaN; infinity and NaN stay.
  result = b_.CreateSelect(b_.CreateFCmpOEQ(x, Number(x, 0.0)), Number(x, -kInfinity), result);
  result = b_.CreateSelect(b_.CreateFCmpOLT(x, Number(x, 0.0)), Number(x, kNan), result);
  return b_.CreateSelect(b_.CreateFCmpOLT(x, Number(x, kInfinity)), result, x);
}

// Near 0 the ratio of the Taylor series of sinh and cosh (no cancellation); further out 1 - 2 / (exp(2|x|) + 1).
llvm::Value* MathEmitter::Tanh(V x) {
  V a = Unary(llvm::Intrinsic::fabs, x);
  V square = b_.CreateFMul(x, x);
  std::vector<double> inverse = InverseFactorials(FormatOf(IsDouble(x)).tanh_terms);
  V sinh = b_.CreateFMul(a, Polynomial(square, EverySecond(inverse, 1)));
  V small = b_.CreateFDiv(sinh, Polynomial(square, EverySecond(inverse, 0)));
  V e = Exp(b_.CreateFAdd(a, a));
  V large = b_.CreateFSub(Number(x, 1.0), b_.CreateFDiv(Number(x, 2.0), b_.CreateFAdd(e, Number(x, 1.0))));
  V result = b_.CreateSelect(b_.CreateFCmpOLT(a, Number(x, 0.625)), small, large);
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

// Below 1 the Taylor series; above, Abramowitz and Stegun 7.1.26 (absolute error 1.5e-7).
llvm::Value* MathEmitter::ErfSingle(V a) {
  std::vector<double> series;
  double factorial = 1;
  for (int n = 0; n <= 10; ++n) {
    if (n > 0) factorial *= -n;
    series.push_back(std::numbers::inv_sqrtpi * 2 / (factorial * (2 * n + 1)));
  }
  V square = b_.CreateFMul(a, a);
  V small = b_.CreateFMul(a, Polynomial(square, series));
  V one = Number(a, 1.0);
  V t = b_.CreateFDiv(one, Fma(a, Number(a, 0.3275911), one));
  V tail = b_.CreateFMul(t, Polynomial(t, {0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429}));
  V large = b_.CreateFSub(one, b_.CreateFMul(tail, Exp(b_.CreateFNeg(square))));
  return b_.CreateSelect(b_.CreateFCmpOLT(a, one), small, large);
}

// Below 2.5 the series 2/sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (2n+1)!!; above, 1 - erfc by Laplace's continued
// fraction, erfc(x) = exp(-x^2)/sqrt(pi) * 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + ...)))).
llvm::Value* MathEmitter::ErfDouble(V a) {
  std::vector<double> series{2 * std::numbers::inv_sqrtpi};
  for (int n = 1; n <= 44; ++n) series.push_back(series.back() * 2 / (2 * n + 1));
  V near = b_.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, a, Number(a, 2.5));
  V far = b_.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, a, Number(a, 2.5));
  V square = b_.CreateFMul(near, near);
  V small = b_.CreateFMul(b_.CreateFMul(near, Polynomial(square, series)), Exp(b_.CreateFNeg(square)));
  V fraction = far;
  for (int k = 40; k >= 1; --k) fraction = b_.CreateFAdd(far, b_.CreateFDiv(Number(a, k / 2.0), fraction));
  V tail = b_.CreateFDiv(Exp(b_.CreateFNeg(b_.CreateFMul(far, far))), fraction);
  V large = Fma(tail, Number(a, -std::numbers::inv_sqrtpi), Number(a, 1.0));
  return b_.CreateSelect(b_.CreateFCmpOLT(a, Number(a, 2.5)), small, large);
}

llvm::Value* MathEmitter::Erf(V x) {
  V a = Unary(llvm::Intrinsic::fabs, x);
  V result = IsDouble(x) ? ErfDouble(a) : ErfSingle(a);
  result = b_.CreateSelect(b_.CreateFCmpUNO(x, x), x, result);
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

// exp(y log|x|) in f64, as the error of the logarithm is multiplied by up to 700; then the special cases of C's pow.
llvm::Value* MathEmitter::Pow(V x, V y) {
  llvm::Type* type = x->getType();
  V wide_x = b_.CreateFPCast(x, Like(x, b_.getDoubleTy()));
  V wide_y = b_.CreateFPCast(y, Like(y, b_.getDoubleTy()));
  V zero = Number(wide_x, 0.0);
  V one = Number(wide_x, 1.0);
  V a = Unary(llvm::Intrinsic::fabs, wide_x);
  V magnitude = Exp(b_.CreateFMul(wide_y, Log(a)));
  // A whole number is odd if its half is not whole; above 2^53 all are even.
  V whole = b_.CreateFCmpOEQ(Rounded(Intrinsic::kFloor, wide_y), wide_y);
  V half = b_.CreateFMul(wide_y, Number(wide_y, 0.5));
  V odd = b_.CreateAnd(whole, b_.CreateFCmpONE(Rounded(Intrinsic::kFloor, half), half));
  V bits = b_.CreateBitCast(wide_x, BitsType(wide_x));
  V sign = b_.CreateICmpSLT(bits, Bits(wide_x, 0));
  V result = b_.CreateSelect(b_.CreateAnd(sign, odd), b_.CreateFNeg(magnitude), magnitude);
  V finite_below = b_.CreateAnd(b_.CreateFCmpOLT(wide_x, zero), b_.CreateFCmpOGT(wide_x, Number(wide_x, -kInfinity)));
  V invalid = b_.CreateAnd(finite_below, b_.CreateNot(whole));
  V y_finite = b_.CreateFCmpONE(Unary(llvm::Intrinsic::fabs, wide_y), Number(wide_y, kInfinity));
  result = b_.CreateSelect(b_.CreateAnd(invalid, y_finite), Number(wide_x, kNan), result);
  // |x| = 1 with infinite y, and x = 1 or y = 0 with any other operand.
  V unit = b_.CreateAnd(b_.CreateFCmpOEQ(a, one), b_.CreateNot(b_.CreateFCmpUNO(wide_y, wide_y)));
  result = b_.CreateSelect(b_.CreateAnd(unit, b_.CreateNot(y_finite)), one, result);
  V trivial = b_.CreateOr(b_.CreateFCmpOEQ(wide_y, zero), b_.CreateFCmpOEQ(wide_x, one));
  return b_.CreateFPCast(b_.CreateSelect(trivial, one, result), type);
}

llvm::Value* MathEmitter::Rounded(Intrinsic fn, V x) {
  if (has_rounding_) {
    auto id = fn == Intrinsic::kFloor  ? llvm::Intrinsic::floor
              : fn == Intrinsic::kCeil ? llvm::Intrinsic::ceil
                                       : llvm::Intrinsic::roundeven;
    return Unary(id, x);
  }
  // Adding 2^mantissa_bits leaves no room for a fraction, and rounds half to even. Larger numbers are whole already.
  V limit = Number(x, std::ldexp(1.0, FormatOf(IsDouble(x)).mantissa_bits));
  V a = Unary(llvm::Intrinsic::fabs, x);
  V whole = b_.CreateFSub(b_.CreateFAdd(a, limit), limit);
  whole = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, whole, x);
  V one = Number(x, 1.0);
  V zero = Number(x, 0.0);
  if (fn == Intrinsic::kFloor) whole = b_.CreateFSub(whole, b_.CreateSelect(b_.CreateFCmpOGT(whole, x), one, zero));
  if (fn == Intrinsic::kCeil) whole = b_.CreateFAdd(whole, b_.CreateSelect(b_.CreateFCmpOLT(whole, x), one, zero));
  V result = b_.CreateSelect(b_.CreateFCmpOLT(a, limit), whole, x);
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

llvm::Value* MathEmitter::Emit(Intrinsic fn, std::vector<V> args) {
  HONE_CHECK(!args.empty());
  llvm::Type* type = args[0]->getType();
  if (type->getScalarType()->isHalfTy()) {
    for (V& arg : args) arg = b_.CreateFPExt(arg, Like(arg, b_.getFloatTy()));
    return b_.CreateFPTrunc(Emit(fn, args), type);
  }
  V x = args[0];
  switch (fn) {
    case Intrinsic::kExp:
      return Exp(x);
    case Intrinsic::kLog:
      return Log(x);
    case Intrinsic::kSqrt:
      return Unary(llvm::Intrinsic::sqrt, x);
    case Intrinsic::kTanh:
      return Tanh(x);
    case Intrinsic::kErf:
      return Erf(x);
    case Intrinsic::kAbs:
      return Unary(llvm::Intrinsic::fabs, x);
    case Intrinsic::kFloor:
    case Intrinsic::kCeil:
    case Intrinsic::kRound:
      return Rounded(fn, x);
    case Intrinsic::kPow:
      return Pow(x, args.at(1));
    case Intrinsic::kFma:
      return FmaRoundedOnce(x, args.at(1), args.at(2));
    default:
      HONE_CHECK(!"not a function of floats");
      return x;
  }
}

}  // namespace hone::codegen
