// Structural equality: the same kinds, types and constants in the same places; free variables, buffers and tensors are
// the same nodes; variables bound inside correspond (so `for i` equals `for j` with i for j). NaN equals itself, 0.0 is
// not -0.0.
#pragma once

#include <cstddef>

#include "ir/stmt.h"

namespace hone::ir {

bool Equal(const Expr& a, const Expr& b);
bool Equal(const Stmt& a, const Stmt& b);

// Equal expressions have equal hashes. Depends on addresses: for tables in memory, not for files.
size_t Hash(const Expr& e);

}  // namespace hone::ir
