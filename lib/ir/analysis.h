// Simple questions about programs.
#pragma once

#include <cstddef>
#include <unordered_set>
#include <vector>

#include "ir/stmt.h"

namespace hone::ir {

bool UsesVar(const Expr& e, const Var& var);
bool UsesVar(const Stmt& s, const Var& var);
bool UsesAnyVar(const Expr& e, const std::unordered_set<const VarNode*>& vars);

// The variables used but not bound inside, each once, in order of first appearance.
std::vector<Var> FreeVars(const Expr& e);
std::vector<Var> FreeVars(const Stmt& s);

// The buffers that are loaded from (prefetches count) or stored to, each once, in order of first appearance.
std::vector<Buffer> BuffersRead(const Expr& e);
std::vector<Buffer> BuffersRead(const Stmt& s);
std::vector<Buffer> BuffersWritten(const Stmt& s);

bool HasLoad(const Expr& e);
// If the whole value of the Store `s` is a product of a warp (Intrinsic::kMmaTf32), that call; else null.
const Call* WarpProductOf(const Stmt& s);

// Whether it stores x = x + 0, where a negative zero counts as zero. Conditions that simplify to false leave such
// updates behind.
bool HasNoEffect(const Stmt& s);

// Structural equality: the same kinds, types and constants in the same places, and the same nodes for free variables,
// buffers and tensors. Variables bound inside correspond by place (`for i` equals `for j` with i for j). NaN equals
// itself; 0.0 differs from -0.0.
bool Equal(const Expr& a, const Expr& b);
bool Equal(const Stmt& a, const Stmt& b);

}  // namespace hone::ir
