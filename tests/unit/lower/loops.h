// Loops over two buffers, for tests of single passes.
#pragma once

#include "arith/simplify.h"
#include "common/expect.h"
#include "common/outline.h"
#include "ir/stmt.h"

namespace hone::lower {

using ir::Buffer;
using ir::Expr;
using ir::ForKind;
using ir::Stmt;
using ir::Var;

inline const DType kF32 = DType::Float(32);

inline Stmt Loop(const Var& v, Expr extent, Stmt body, ForKind kind = ForKind::kSerial) {
  return ir::MakeFor(v, Expr(0), extent, kind, body);
}
inline std::string Text(const Stmt& s) { return Outline(s); }
inline std::string Simple(const Stmt& s) { return Text(arith::SimplifyStmt(s)); }

}  // namespace hone::lower
