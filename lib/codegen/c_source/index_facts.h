// Facts about an integer expression that hold without running it: its range, and a number that divides it. They decide
// which index arithmetic fits in 32 bits, which division needs no correction, and which access is aligned.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "arith/const_interval.h"
#include "ir/expr.h"

namespace hone::codegen {

class IndexFacts {
 public:
  // Holds until the variable is bound again.
  void Bind(const ir::VarNode* var, arith::ConstInterval range, int64_t divisor = 1);

  // An interval that contains every value of the scalar integer `e`; the whole type if it may wrap, infinite for 64
  // bits.
  arith::ConstInterval RangeOf(const ir::Expr& e);
  // Whether the sum, difference or product `e` may leave the range of its type.
  bool MayWrap(const ir::Expr& e);
  // A number of at least 1 that divides every value of `e`. A large power of two for the constant 0.
  int64_t DivisorOf(const ir::Expr& e);

 private:
  struct Fact {
    arith::ConstInterval range;
    int64_t divisor = 1;
    bool wraps = false;
  };
  struct Known {
    ir::Expr node;  // keeps the node's address from being reused
    Fact fact;
  };
  const Fact& Of(const ir::Expr& e);
  Fact Compute(const ir::Expr& e);
  Fact OfBinary(const ir::Binary& e);

  std::unordered_map<const ir::VarNode*, Fact> vars_;
  std::unordered_map<const ir::ExprNode*, Known> known_;  // Bind empties it
};

}  // namespace hone::codegen
