// Parts of computations that schedules are made from.
#pragma once

#include "ir/walk.h"
#include "te/tensor.h"

namespace hone::te {

// Whether a schedule has loops for it: constants are computed by the prepare function.
inline bool IsStage(const TensorNode& node) { return node.kind == TensorKind::kCompute && !node.constant; }

// Calls fn(access) for each read in the body.
template <typename F>
void ForEachAccess(const ir::Expr& body, const F& fn) {
  ir::Walk(body, ir::Overloaded{[&](const ir::Access& access) { fn(access); }, [](const auto&) {}});
}

}  // namespace hone::te
