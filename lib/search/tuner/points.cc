#include "search/tuner/points.h"

#include <algorithm>

#include "base/check.h"

namespace hone::search {
namespace {

constexpr int kMissesBeforeEnumerating = 2000;
constexpr uint64_t kEnumerateAtMost = uint64_t{1} << 24;
constexpr int kWalkTries = 32;

std::vector<uint64_t> DrawFrom(const std::vector<uint64_t>& legal, size_t count, const IndexSet& known,
                               const IndexSet& also_known, Rng* rng) {
  std::vector<uint64_t> left;
  for (const uint64_t index : legal) {
    if (!known.count(index) && !also_known.count(index)) left.push_back(index);
  }
  const size_t n = std::min(count, left.size());
  for (size_t i = 0; i < n; ++i) std::swap(left[i], left[i + rng->UniformInt(left.size() - i)]);
  left.resize(n);
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
  if (legal_) return DrawFrom(*legal_, count, known, also_known, rng);
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
    return DrawFrom(*legal, count, known, also_known, rng);
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
