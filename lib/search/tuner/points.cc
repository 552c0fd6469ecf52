#include "search/tuner/points.h"

#include <algorithm>

#include "base/check.h"

namespace hone::search {
namespace {

constexpr int kWalkTries = 32;

// `left` holds the rest of each template.
std::vector<uint64_t> DrawFrom(std::vector<std::vector<uint64_t>> left, size_t count, Rng* rng) {
  std::vector<uint64_t> drawn;
  while (drawn.size() < count) {
    std::erase_if(left, [](const std::vector<uint64_t>& points) { return points.empty(); });
    if (left.empty()) break;
    std::vector<uint64_t>& points = left[left.size() == 1 ? 0 : rng->UniformInt(left.size())];
    std::swap(points[rng->UniformInt(points.size())], points.back());
    drawn.push_back(points.back());
    points.pop_back();
  }
  return drawn;
}

// Those of `legal`, ascending, that are in neither set.
std::vector<std::vector<uint64_t>> Left(const TaskSpace& space, const std::vector<uint64_t>& legal,
                                        const IndexSet& known, const IndexSet& also_known) {
  std::vector<std::vector<uint64_t>> left(space.spaces().size());
  size_t s = 0;
  uint64_t end = space.spaces().empty() ? 0 : space.spaces()[0].size();
  for (const uint64_t index : legal) {
    while (index >= end) end += space.spaces()[++s].size();
    if (!known.count(index) && !also_known.count(index)) left[s].push_back(index);
  }
  return left;
}

}  // namespace

Points::Points(const TaskSpace& space, uint64_t enumerate_limit)
    : space_(space), legal_(space.LegalIndices(enumerate_limit)) {
  if (!legal_) return;
  is_legal_.resize(space.size());
  for (const uint64_t index : *legal_) is_legal_[index] = true;
}

std::vector<uint64_t> Points::DrawNew(size_t count, const IndexSet& known, const IndexSet& also_known, Rng* rng) const {
  if (legal_) return DrawFrom(Left(space_, *legal_, known, also_known), count, rng);
  std::vector<uint64_t> drawn;
  IndexSet here;
  for (int misses = 0; drawn.size() < count && misses < kMissesBeforeEnumerating;) {
    const std::optional<uint64_t> index = space_.SampleLegal(*rng);
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

bool Points::Legal(uint64_t index) const { return legal_ ? is_legal_[index] : !space_.Reject(index).has_value(); }

uint64_t Points::Walk(uint64_t index, Rng* rng, double near) const {
  const Digits from = DigitsOf(index);
  const std::vector<Knob>& knobs = space_.spaces()[from.space].knobs();
  const size_t moves = knobs.size() + (space_.spaces().size() > 1 ? 1 : 0);
  if (moves == 0) return index;
  for (int t = 0; t < kWalkTries; ++t) {
    const size_t move = rng->UniformInt(moves);
    if (move == knobs.size()) {
      const std::optional<uint64_t> other = space_.SampleLegal(*rng, kWalkTries);
      if (other && *other != index) return *other;
      continue;
    }
    Digits to = from;
    to.digits[move] = rng->UniformInt(knobs[move].size());
    if (near > 0 && rng->UniformDouble() < near) {
      const bool up = rng->UniformInt(2) == 0;
      if (up ? from.digits[move] + 1 == knobs[move].size() : from.digits[move] == 0) continue;
      to.digits[move] = up ? from.digits[move] + 1 : from.digits[move] - 1;
    }
    if (to.digits[move] == from.digits[move]) continue;
    const uint64_t next = IndexOf(to);
    if (Legal(next)) return next;
  }
  return index;
}

Points::Digits Points::DigitsOf(uint64_t index) const {
  Digits out;
  for (const Space& s : space_.spaces()) {
    if (index >= s.size()) {
      index -= s.size();
      ++out.space;
      continue;
    }
    for (const Knob& k : s.knobs()) {
      out.digits.push_back(index % k.size());
      index /= k.size();
    }
    return out;
  }
  HONE_CHECK(false && "index is in the space");
  return out;
}

uint64_t Points::IndexOf(const Digits& digits) const {
  uint64_t offset = 0;
  for (size_t s = 0; s < digits.space; ++s) offset += space_.spaces()[s].size();
  uint64_t index = 0, radix = 1;
  const std::vector<Knob>& knobs = space_.spaces()[digits.space].knobs();
  for (size_t k = 0; k < knobs.size(); ++k) {
    index += radix * digits.digits[k];
    radix *= knobs[k].size();
  }
  return offset + index;
}

}  // namespace hone::search
