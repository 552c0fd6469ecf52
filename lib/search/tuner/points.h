// The legal points of a space as tuners use them: drawing new ones, and steps from one to another. All choices come
// from the given Rng.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "search/space/space.h"

namespace hone::search {

// After this many failed draws a space is enumerated after all, unless it is far too large.
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

  // `count` different legal points that are in neither set: draws a template uniformly, then one of its points
  // uniformly, so that a template with many points does not hide one with few. If there are fewer, returns all,
  // shuffled. In a space that is not enumerated, draws them one by one, and enumerates it (up to 2^24 points) only if
  // the draws keep missing.
  std::vector<PointIndex> DrawNew(size_t count, const IndexSet& known, const IndexSet& also_known, Rng* rng) const;

  // Fills `plan` up to `size` points by DrawNew, or with all that are left.
  void FillUp(size_t size, const IndexSet& known, Rng* rng, std::vector<PointIndex>* plan) const;

  // A legal point with one knob redrawn among all its values; with several templates, sometimes a point of another
  // template instead, once in as many times as there are knobs. Returns `index` itself if it finds no legal one. `near`
  // is the probability that the knob takes a neighbouring value instead (values of most knobs are ordered).
  PointIndex Walk(PointIndex index, Rng* rng, double near = 0) const;

  // False for indices outside of the space.
  bool Legal(PointIndex index) const;

 private:
  const TaskSpace& space_;
  std::optional<std::vector<PointIndex>> legal_;
  std::vector<bool> is_legal_;  // for an enumerated space
};

// The points near a point are those of its template that differ from it in one or two knobs.
//
// Calls `visit` with each near point, legal or not, and with the point itself, some more than once. REQUIRES: center <
// space.size()
void VisitNear(const TaskSpace& space, PointIndex center, const std::function<void(PointIndex index)>& visit);

// Returns up to `most` legal near points, at most half of them one knob away and the others two; some may repeat. It
// examines at most three times as many points, so it finds few if few are legal. REQUIRES: center < space.size()
std::vector<PointIndex> DrawNear(const TaskSpace& space, PointIndex center, size_t most, Rng* rng);

}  // namespace hone::search
