// Facts about an integer expression that hold without running it: its range and a number that divides it. From it
// follow which index arithmetic fits in 32 bits, which division is plain, and which access is aligned.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "arith/const_interval.h"
#include "ir/expr.h"

namespace hone::codegen {

class IndexFacts {
 public:
  // From now on, until it is bound again.
  void Bind(const ir::VarNode* var, arith::ConstInterval range, int64_t divisor = 1);

  // Contains every value of the scalar integer `e`; the whole type if it may wrap, infinite for 64 bits.
  arith::ConstInterval RangeOf(const ir::Expr& e);
  // Whether the sum, difference or product `e` may leave the range of its type.
  bool MayWrap(const ir::Expr& e);
  // Divides every value of `e`; at least 1. A large power of two for the constant 0.
  int64_t DivisorOf(const ir::Expr& e);

 private:
  struct Fact {
    arith::ConstInterval range;
    int64_t divisor = 1;
    bool wraps = false;
  };
  struct Known {
    ir::Expr node;  // keeps its address from being used again
    Fact fact;
  };
  const Fact& Of(const ir::Expr& e);
  Fact Compute(const ir::Expr& e);
  Fact OfBinary(const ir::Binary& e);

  std::unordered_map<const ir::VarNode*, Fact> vars_;
  std::unordered_map<const ir::ExprNode*, Known> known_;  // emptied by Bind
};

}  // namespace hone::codegen
