// The points near a point: points of its template that differ from it in one knob or in two.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/rng.h"
#include "search/space/space.h"

namespace hone::search {

// Calls `visit` with each near point, legal or not, and with the point itself. Some points come more than once.
// REQUIRES: center < space.size()
void VisitNear(const TaskSpace& space, uint64_t center, const std::function<void(uint64_t index)>& visit);

// Returns up to `most` legal near points, up to half of them one knob away and the others two; some may come twice. It
// looks at no more than three times as many points, so it finds few where few are legal. Returns no point if the space
// is so large that its size is not known. REQUIRES: center < space.size()
std::vector<uint64_t> DrawNear(const TaskSpace& space, uint64_t center, size_t most, Rng* rng);

}  // namespace hone::search
