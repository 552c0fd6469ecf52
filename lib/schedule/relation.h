// How axes derive from others, and questions about it.
//
// Equations, where v is an axis's value counted from 0 and e its extent:
//   split p [f] -> o i    e(o) = ceil(e(p) / f)       e(i) = min(f, e(p) - v(o) * f)       v(p) = v(o) * f + v(i)
//   fuse o i -> f         e(f) = e(o) * e(i)          v(o) = floor(v(f) / e(i))            v(i) = v(f) mod e(i)
#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace hone::schedule {

// Names of the tensors that the stage's computation reads, each once.
std::vector<std::string> ReadsOf(const Stage& stage);

// The loops that derive from `axis` (itself if it is a loop), outermost first.
std::vector<std::string> LeavesOf(const Stage& stage, const std::string& axis);

// Position of a loop in stage.leaf, -1 if it is not one.
int LeafPosition(const Stage& stage, const std::string& axis);

// Whether some fused axis derives from `axis`.
bool EndsInFuse(const Stage& stage, const std::string& axis);

}  // namespace hone::schedule
