// Recognises stores without effect. Conditions that turn out false leave updates such as x = x + 0 behind.
#pragma once

#include "ir/equal.h"
#include "ir/stmt.h"

namespace hone::lower {

// Is it x = x + 0? A negative zero counts as zero. (Where a maximum's condition fails there is no store at all.)
inline bool HasNoEffect(const ir::Stmt& stmt) {
  const auto* store = stmt.as<ir::Store>();
  const auto* update = store ? store->value.as<ir::Binary>() : nullptr;
  const auto* old = update ? update->a.as<ir::Load>() : nullptr;
  if (!old || old->buffer.get() != store->buffer.get()) return false;
  const auto* all = update->b.as<ir::Broadcast>();
  const auto* with = (all ? all->value : update->b).as<ir::FloatImm>();
  if (!with) return false;
  return update->kind == ir::ExprKind::kAdd && with->value == 0 && ir::Equal(old->index, store->index);
}

}  // namespace hone::lower
