// The interpreter's value of an expression without loads.
#pragma once

#include <utility>
#include <vector>

#include "base/result.h"
#include "interpreter/ops.h"

namespace hone::ir {

// One element for each lane, in the vector that fits the type.
struct Value {
  DType type;
  std::vector<int64_t> ints;  // integers and bool; u64 as its bit pattern
  std::vector<double> floats;
  bool operator==(const Value&) const = default;
};

inline Result<Value> EvaluateExpr(const Expr& e, const std::vector<std::pair<Var, int64_t>>& variables) {
  interp::Failure failure;
  interp::Scope scope;
  scope.failure = &failure;
  for (const auto& [var, value] : variables) {
    scope.vars[var.node()] = std::make_shared<std::vector<interp::Slot>>(1, interp::Slot{.i = value});
  }
  const interp::OpPtr op = interp::Compile(e, &scope);
  Value result{e.type(), {}, {}};
  const interp::Slot* v = failure.failed ? nullptr : op->Value();
  for (int i = 0; v != nullptr && i < op->lanes; ++i) {
    e.type().is_float() ? result.floats.push_back(v[i].f) : result.ints.push_back(v[i].i);
  }
  if (failure.unsupported) return Status::Unsupported("expression: " + failure.message);
  if (failure.failed) return Status::Invalid("expression: " + failure.message);
  return result;
}

}  // namespace hone::ir
