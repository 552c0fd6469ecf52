// Programs as text for people and tests, and as keys: functions with equal text must compile to equal code, as
// compile::PrepareCache reuses code by text. So print every field that a code generator reads. Deterministic: the text
// depends on the program alone. Different variables (or buffers) with the same name get a suffix in order of first
// appearance: i, i_1, i_2. doc/reference/ir.md shows an example.
#pragma once

#include <string>

#include "ir/stmt.h"

namespace hone::ir {

std::string ToString(const Expr& e);  // one line, with only the necessary parentheses
std::string ToString(const Stmt& s);  // a statement a line, two spaces a level, a newline at the end
std::string ToString(const Function& f);

const char* ForKindName(ForKind kind);     // "", "parallel", "vectorized", "unrolled", "blockIdx.x", .., "vthread"
const char* ScopeName(Scope scope);        // "argument", "workspace", "scratch", "register", "shared"
const char* IntrinsicName(Intrinsic fn);   // "exp", .., "if_then_else", "prefetch"
const char* ReducerName(Reducer reducer);  // "sum", "max", "min"
const char* OperatorText(ExprKind kind);   // "+", "<=", "min", ..; REQUIRES: a Binary's kind

}  // namespace hone::ir
