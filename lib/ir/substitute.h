// Replacing variables by expressions.
#pragma once

#include <unordered_map>

#include "ir/stmt.h"

namespace hone::ir {

using VarMap = std::unordered_map<const VarNode*, Expr>;

// Every use of a mapped variable becomes its expression, all at once (a replacement is not looked into again). The same
// handle if no mapped variable is used. REQUIRES: types agree (a scalar may become a vector: operations around it
// widen), and nothing in `e` binds a mapped variable or one that a replacement uses.
Expr Substitute(const Expr& e, const VarMap& map);
Stmt Substitute(const Stmt& s, const VarMap& map);
Expr Substitute(const Expr& e, const Var& var, const Expr& value);
Stmt Substitute(const Stmt& s, const Var& var, const Expr& value);

}  // namespace hone::ir
