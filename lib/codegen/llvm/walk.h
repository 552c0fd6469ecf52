// Visiting the children of ir nodes, as far as code generation needs it: free variables, accesses to a buffer.
#pragma once

#include <functional>
#include <string>

#include "ir/stmt.h"

namespace hone::codegen {

// Calls on_expr for every expression below and in `root`, parents first; returning false skips the children.
void WalkExpr(const ir::Expr& root, const std::function<bool(const ir::Expr&)>& on_expr);

// Calls on_stmt for every statement, parents first (false skips all below it), and on_expr as WalkExpr.
void WalkStmt(const ir::Stmt& root, const std::function<bool(const ir::Stmt&)>& on_stmt,
              const std::function<bool(const ir::Expr&)>& on_expr);

// Appends bytes to *key such that two expressions have equal bytes only if they are structurally equal, variables
// standing for what value_of says of them. Keys are good within this process, while nodes and values live.
using ValueOf = std::function<const void*(const ir::VarNode*)>;
void AppendKey(const ir::Expr& e, const ValueOf& value_of, std::string* key);

}  // namespace hone::codegen
