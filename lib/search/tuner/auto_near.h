// The points near a point: those of its template that differ from it in one knob or in two.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/rng.h"
#include "search/space/space.h"

namespace hone::search {

// Calls `visit` with each of them, legal or not, the point itself among them, some more than once.
// REQUIRES: center < space.size()
void VisitNear(const TaskSpace& space, uint64_t center, const std::function<void(uint64_t index)>& visit);

// Up to `most` legal ones, up to half of them one knob away, the others two; some may come twice. It looks at no more
// than three times as many: in a space where few points are legal few are found. None where the space is so large that
// its size is not known. REQUIRES: center < space.size()
std::vector<uint64_t> DrawNear(const TaskSpace& space, uint64_t center, size_t most, Rng* rng);

}  // namespace hone::search
