#include "search/tuner/auto_near.h"

#include "base/check.h"

namespace hone::search {
namespace {

struct Place {
  const Space* space = nullptr;
  uint64_t offset = 0;  // of the space in the task's
  uint64_t index = 0;   // in the space
};

Place PlaceOf(const TaskSpace& space, uint64_t index) {
  uint64_t offset = 0;
  for (const Space& s : space.spaces()) {
    if (index - offset < s.size()) return {&s, offset, index - offset};
    offset += s.size();
  }
  HONE_CHECK(false && "index is in the space");
  return {};
}

// `index` with another digit of one knob.
uint64_t Moved(const std::vector<Knob>& knobs, uint64_t index, size_t knob, size_t digit) {
  uint64_t radix = 1;
  for (size_t k = 0; k < knob; ++k) radix *= knobs[k].size();
  return index - index / radix % knobs[knob].size() * radix + digit * radix;
}

}  // namespace

void VisitNear(const TaskSpace& space, uint64_t center, const std::function<void(uint64_t index)>& visit) {
  const Place place = PlaceOf(space, center);
  const std::vector<Knob>& knobs = place.space->knobs();
  for (size_t a = 0; a < knobs.size(); ++a) {
    for (size_t i = 0; i < knobs[a].size(); ++i) {
      const uint64_t first = Moved(knobs, place.index, a, i);
      visit(place.offset + first);
      for (size_t b = a + 1; b < knobs.size(); ++b) {
        for (size_t j = 0; j < knobs[b].size(); ++j) visit(place.offset + Moved(knobs, first, b, j));
      }
    }
  }
}

std::vector<uint64_t> DrawNear(const TaskSpace& space, uint64_t center, size_t most, Rng* rng) {
  std::vector<uint64_t> drawn;
  if (space.size() == UINT64_MAX) return drawn;
  const Place place = PlaceOf(space, center);
  const std::vector<Knob>& knobs = place.space->knobs();
  struct Step {
    size_t knob = 0, digit = 0;
  };
  std::vector<Step> steps;
  uint64_t rest = place.index;
  for (size_t k = 0; k < knobs.size(); ++k) {
    for (size_t d = 0; d < knobs[k].size(); ++d) {
      if (d != rest % knobs[k].size()) steps.push_back({k, d});
    }
    rest /= knobs[k].size();
  }
  if (steps.empty()) return drawn;
  rng->Shuffle(&steps);
  const auto take = [&](uint64_t index) {
    if (place.space->Legal(index)) drawn.push_back(place.offset + index);
  };
  for (size_t i = 0; i < steps.size() && i < most && drawn.size() < most / 2; ++i) {
    take(Moved(knobs, place.index, steps[i].knob, steps[i].digit));
  }
  for (size_t i = 0; i < 2 * most && drawn.size() < most; ++i) {
    const Step &a = steps[rng->UniformInt(steps.size())], &b = steps[rng->UniformInt(steps.size())];
    if (a.knob != b.knob) take(Moved(knobs, Moved(knobs, place.index, a.knob, a.digit), b.knob, b.digit));
  }
  return drawn;
}

}  // namespace hone::search
