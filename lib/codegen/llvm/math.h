// Elementary functions as inline LLVM IR on scalars and vectors of f16, f32 and f64: a compiled network needs no libm.
// Private to codegen/llvm.
//
// Accuracy: f32 and f64 within 1e-6 relative (mostly 1e-7), f16 computed in f32. Infinities, NaN, zeros and overflow as
// in C, except for the sign of a NaN.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "ir/expr.h"
#include "target/target.h"

namespace hone::codegen {

class MathEmitter {
 public:
  MathEmitter(llvm::IRBuilder<>* builder, const Target& target);

  // REQUIRES: fn is one of kExp .. kFma; the right number of args, all of one float type.
  llvm::Value* Emit(ir::Intrinsic fn, std::vector<llvm::Value*> args);

 private:
  using V = llvm::Value*;
  V Exp(V x);
  V Scale(V p, V n);
  V Log(V x);
  V Tanh(V x);
  V Erf(V x);
  V ErfSingle(V a);  // for a >= 0
  V ErfDouble(V a);
  V Pow(V x, V y);
  V Rounded(ir::Intrinsic fn, V x);

  bool IsDouble(V x) const { return x->getType()->getScalarType()->isDoubleTy(); }
  llvm::Type* BitsType(V x) const;  // the integers of the same width and lanes
  llvm::Type* Like(V x, llvm::Type* element) const;
  V Number(V like, double value);
  V Bits(V like, uint64_t value);
  V Fma(V a, V b, V c);  // rounded once or twice
  V FmaRoundedOnce(V a, V b, V c);
  V Unary(llvm::Intrinsic::ID id, V x);
  // coefficients[0] + x * (coefficients[1] + x * ...)
  V Polynomial(V x, const std::vector<double>& coefficients);

  llvm::IRBuilder<>& b_;
  bool has_rounding_;  // the CPU can round to integers by one instruction
  bool has_scaling_;   // .. multiply by a power of two
  bool has_fma_;       // .. multiply and add with one rounding
};

}  // namespace hone::codegen
