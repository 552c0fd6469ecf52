// The legal points of a space as tuners move among them: drawing new ones, and steps from one to another. All choices
// come from the Rng that is handed in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "search/space/space.h"

namespace hone::search {

// A space whose points are this hard to find by drawing is enumerated after all, if it is not hopelessly large.
inline constexpr int kMissesBeforeEnumerating = 2000;
inline constexpr uint64_t kEnumerateAtMost = uint64_t{1} << 24;

class Points {
 public:
  // Spaces up to this size are enumerated.
  static constexpr uint64_t kEnumerateLimit = uint64_t{1} << 16;

  explicit Points(const TaskSpace& space, uint64_t enumerate_limit = kEnumerateLimit);

  const TaskSpace& space() const { return space_; }
  // All legal indices, ascending, if the space is enumerated.
  const std::optional<std::vector<PointIndex>>& legal() const { return legal_; }

  // `count` different legal points that are in neither set: first a template, each as likely, then one of its points,
  // each as likely, so that one with many does not hide one with few; all of them, shuffled, if there are fewer.
  // In a space that is not enumerated they are drawn one by one, and it is enumerated (up to 2^24 points) only where
  // that keeps missing.
  std::vector<PointIndex> DrawNew(size_t count, const IndexSet& known, const IndexSet& also_known, Rng* rng) const;

  // A legal point with one knob re-drawn among all its values; where there are several templates, also once in as many
  // times as there are knobs another template's point. `index` itself if no legal one was found. `near`: how often the
  // knob takes a neighbouring value instead (values of most knobs are in an order).
  PointIndex Walk(PointIndex index, Rng* rng, double near = 0) const;

  // False for what is not in the space.
  bool Legal(PointIndex index) const;

 private:
  const TaskSpace& space_;
  std::optional<std::vector<PointIndex>> legal_;
  std::vector<bool> is_legal_;  // of an enumerated space
};

// The points near a point are those of its template that differ from it in one knob or in two.
//
// Calls `visit` with each near point, legal or not, and with the point itself. Some points come more than once.
// REQUIRES: center < space.size()
void VisitNear(const TaskSpace& space, PointIndex center, const std::function<void(PointIndex index)>& visit);

// Returns up to `most` legal near points, up to half of them one knob away and the others two; some may come twice. It
// looks at no more than three times as many points, so it finds few where few are legal. REQUIRES: center <
// space.size()
std::vector<PointIndex> DrawNear(const TaskSpace& space, PointIndex center, size_t most, Rng* rng);

}  // namespace hone::search
