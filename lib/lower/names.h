// The names of other layers that most passes use.
#pragma once

#include "ir/stmt.h"
#include "schedule/schedule.h"

namespace hone::lower {

using ir::AsIntImm;
using ir::Buffer;
using ir::BufferNode;
using ir::Expr;
using ir::For;
using ir::ForKind;
using ir::Scope;
using ir::Stmt;
using ir::Var;
using ir::VarNode;
using schedule::AttachKind;
using schedule::Axis;
using schedule::Schedule;
using schedule::Stage;

}  // namespace hone::lower
