// Simple questions about programs.
#pragma once

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
// The product of a warp (Intrinsic::kMmaTf32) that is the whole value of the Store `s`; null if there is none.
const Call* WarpProductOf(const Stmt& s);
// Nodes of any kind, counted at every place where they stand.
int64_t CountNodes(const Stmt& s);

}  // namespace hone::ir
