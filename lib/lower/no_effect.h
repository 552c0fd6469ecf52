// What a store leaves as it is. Conditions that turn out false leave updates such as x = x + 0 behind.
#pragma once

#include <cmath>

#include "ir/equal.h"
#include "ir/stmt.h"

namespace hone::lower {

// Is it x = x + 0, max(x, -inf) or min(x, inf)? A negative zero counts as zero.
inline bool HasNoEffect(const ir::Stmt& stmt) {
  const auto* store = stmt.as<ir::Store>();
  const auto* update = store ? store->value.as<ir::Binary>() : nullptr;
  const auto* old = update ? update->a.as<ir::Load>() : nullptr;
  if (!old || old->buffer.get() != store->buffer.get()) return false;
  const auto* all = update->b.as<ir::Broadcast>();
  const auto* with = (all ? all->value : update->b).as<ir::FloatImm>();
  if (!with) return false;
  const double inf = INFINITY;
  const bool identity = (update->kind == ir::ExprKind::kAdd && with->value == 0) ||
                        (update->kind == ir::ExprKind::kMax && with->value == -inf) ||
                        (update->kind == ir::ExprKind::kMin && with->value == inf);
  return identity && ir::Equal(old->index, store->index);
}

}  // namespace hone::lower
