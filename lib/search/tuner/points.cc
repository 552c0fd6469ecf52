#include "search/tuner/points.h"

namespace hone::search {
namespace {

constexpr int kWalkTries = 32;

// `left` holds the remaining points of each template.
std::vector<PointIndex> DrawFrom(std::vector<std::vector<PointIndex>> left, size_t count, Rng* rng) {
  std::vector<PointIndex> drawn;
  while (drawn.size() < count) {
    std::erase_if(left, [](const std::vector<PointIndex>& points) { return points.empty(); });
    if (left.empty()) break;
    std::vector<PointIndex>& points = left[left.size() == 1 ? 0 : rng->UniformInt(left.size())];
    std::swap(points[rng->UniformInt(points.size())], points.back());
    drawn.push_back(points.back());
    points.pop_back();
  }
  return drawn;
}

// The points of `legal`, ascending, that are in neither set.
std::vector<std::vector<PointIndex>> Left(const TaskSpace& space, const std::vector<PointIndex>& legal,
                                        const IndexSet& known, const IndexSet& also_known) {
  std::vector<std::vector<PointIndex>> left(space.spaces().size());
  for (const PointIndex index : legal) {
    if (!known.count(index) && !also_known.count(index)) left[space.Find(index).space].push_back(index);
  }
  return left;
}

// For each knob, what to add to a point's index to select each of the knob's values, modulo 2^128 as it may be
// negative; 0 for the point's own value.
std::vector<std::vector<PointIndex>> StepsFrom(const TaskSpace& space, PointIndex index) {
  const TaskSpace::Place place = space.Find(index);
  const Space& own = space.spaces()[place.space];
  std::vector<std::vector<PointIndex>> steps(own.knobs().size());
  own.VisitDigits(place.index, [&](size_t k, size_t digit) {
    for (size_t d = 0; d < own.knobs()[k].size(); ++d) {
      steps[k].push_back((PointIndex{d} - PointIndex{digit}) * own.radix(k));
    }
  });
  return steps;
}

}  // namespace

Points::Points(const TaskSpace& space, uint64_t enumerate_limit)
    : space_(space), legal_(space.LegalIndices(enumerate_limit)) {
  if (!legal_) return;
  is_legal_.resize(static_cast<size_t>(space.size()));
  for (const PointIndex index : *legal_) is_legal_[static_cast<size_t>(index)] = true;
}

std::vector<PointIndex> Points::DrawNew(size_t count, const IndexSet& known, const IndexSet& also_known,
                                        Rng* rng) const {
  if (legal_) return DrawFrom(Left(space_, *legal_, known, also_known), count, rng);
  std::vector<PointIndex> drawn;
  IndexSet here;
  for (int misses = 0; drawn.size() < count && misses < kMissesBeforeEnumerating;) {
    const std::optional<PointIndex> index = space_.SampleLegal(*rng);
    if (!index) break;
    if (known.count(*index) || also_known.count(*index) || !here.insert(*index).second) {
      ++misses;
      continue;
    }
    drawn.push_back(*index);
  }
  if (drawn.size() == count) return drawn;
  if (const auto legal = space_.LegalIndices(kEnumerateAtMost)) {
    return DrawFrom(Left(space_, *legal, known, also_known), count, rng);
  }
  return drawn;
}

void Points::FillUp(size_t size, const IndexSet& known, Rng* rng, std::vector<PointIndex>* plan) const {
  const IndexSet planned(plan->begin(), plan->end());
  const std::vector<PointIndex> fresh = DrawNew(size - plan->size(), known, planned, rng);
  plan->insert(plan->end(), fresh.begin(), fresh.end());
}

bool Points::Legal(PointIndex index) const {
  if (index >= space_.size()) return false;
  return legal_ ? is_legal_[static_cast<size_t>(index)] : !space_.Reject(index).has_value();
}

PointIndex Points::Walk(PointIndex index, Rng* rng, double near) const {
  const TaskSpace::Place place = space_.Find(index);
  const Space& own = space_.spaces()[place.space];
  const size_t knobs = own.knobs().size();
  const size_t moves = knobs + (space_.spaces().size() > 1 ? 1 : 0);
  if (moves == 0) return index;
  for (int t = 0; t < kWalkTries; ++t) {
    const size_t move = rng->UniformInt(moves);
    if (move == knobs) {
      const std::optional<PointIndex> other = space_.SampleLegal(*rng, kWalkTries);
      if (other && *other != index) return *other;
      continue;
    }
    const size_t size = own.knobs()[move].size();
    const size_t from = static_cast<size_t>(place.index / own.radix(move) % size);
    size_t to = rng->UniformInt(size);
    if (near > 0 && rng->UniformDouble() < near) {
      const bool up = rng->UniformInt(2) == 0;
      if (up ? from + 1 == size : from == 0) continue;
      to = up ? from + 1 : from - 1;
    }
    const PointIndex moved = index + (PointIndex{to} - PointIndex{from}) * own.radix(move);
    if (moved != index && Legal(moved)) return moved;
  }
  return index;
}

void VisitNear(const TaskSpace& space, PointIndex center, const std::function<void(PointIndex index)>& visit) {
  const std::vector<std::vector<PointIndex>> steps = StepsFrom(space, center);
  for (size_t a = 0; a < steps.size(); ++a) {
    for (const PointIndex first : steps[a]) {
      visit(center + first);
      for (size_t b = a + 1; b < steps.size(); ++b) {
        for (const PointIndex second : steps[b]) visit(center + first + second);
      }
    }
  }
}

std::vector<PointIndex> DrawNear(const TaskSpace& space, PointIndex center, size_t most, Rng* rng) {
  std::vector<std::pair<size_t, PointIndex>> steps;  // the changed knobs
  const std::vector<std::vector<PointIndex>> all = StepsFrom(space, center);
  for (size_t k = 0; k < all.size(); ++k) {
    for (const PointIndex step : all[k]) {
      if (step != 0) steps.push_back({k, step});
    }
  }
  std::vector<PointIndex> drawn;
  if (steps.empty()) return drawn;
  rng->Shuffle(&steps);
  const auto take = [&](PointIndex index) {
    if (!space.Reject(index)) drawn.push_back(index);
  };
  for (size_t i = 0; i < steps.size() && i < most && drawn.size() < most / 2; ++i) take(center + steps[i].second);
  for (size_t i = 0; i < 2 * most && drawn.size() < most; ++i) {
    const auto &a = steps[rng->UniformInt(steps.size())], &b = steps[rng->UniformInt(steps.size())];
    if (a.first != b.first) take(center + a.second + b.second);
  }
  return drawn;
}

}  // namespace hone::search
