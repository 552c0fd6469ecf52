#include "search/tuner/anneal.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace hone::search {
namespace {

// Keeps the best `count` different points.
class Best {
 public:
  Best(size_t count, const IndexSet& known) : count_(count), known_(known) {}

  bool Add(PointIndex index, float score) {  // returns whether it changed anything
    if (count_ == 0 || known_.count(index) != 0) return false;
    const Entry entry{-score, index};
    if (entries_.size() == count_ && !(entry < *entries_.rbegin())) return false;
    if (!entries_.insert(entry).second) return false;
    if (entries_.size() > count_) entries_.erase(std::prev(entries_.end()));
    return true;
  }

  std::vector<PointIndex> Take() const {
    std::vector<PointIndex> out;
    for (const Entry& entry : entries_) out.push_back(entry.second);
    return out;
  }

 private:
  using Entry = std::pair<float, PointIndex>;  // (-score, index): ascending order is best first
  const size_t count_;
  const IndexSet& known_;
  std::set<Entry> entries_;
};

}  // namespace

std::vector<PointIndex> Anneal(const Points& points, const ScoreFunction& score, size_t count, const IndexSet& known,
                             const AnnealOptions& options, Rng* rng, std::vector<PointIndex>* walkers) {
  if (walkers->empty()) *walkers = points.DrawNew(static_cast<size_t>(options.walkers), {}, {}, rng);
  if (walkers->empty()) return {};
  Best best(count, known);
  std::vector<float> scores = score(*walkers);
  for (size_t w = 0; w < walkers->size(); ++w) best.Add((*walkers)[w], scores[w]);
  const auto [low, high] = std::minmax_element(scores.begin(), scores.end());
  const double spread = options.scale_score && *high > *low ? *high - *low : 1;
  int unchanged = 0;
  for (int i = 0; i < options.iterations && unchanged < options.patience; ++i) {
    const double temperature = 1 - static_cast<double>(i) / (options.iterations + 1);
    std::vector<PointIndex> next;
    for (const PointIndex from : *walkers) next.push_back(points.Walk(from, rng));
    const std::vector<float> next_scores = score(next);
    bool changed = false;
    for (size_t w = 0; w < next.size(); ++w) {
      changed |= best.Add(next[w], next_scores[w]);
      const double gain = (next_scores[w] - scores[w]) / spread / (temperature + 1e-5);
      if (rng->UniformDouble() > std::exp(std::min(gain, 1.0))) continue;
      (*walkers)[w] = next[w];
      scores[w] = next_scores[w];
    }
    unchanged = changed ? 0 : unchanged + 1;
  }
  return best.Take();
}

std::vector<PointIndex> BestOf(const std::vector<PointIndex>& candidates, const ScoreFunction& score, size_t count,
                             const IndexSet& known) {
  Best best(count, known);
  const std::vector<float> scores = score(candidates);
  for (size_t i = 0; i < candidates.size(); ++i) best.Add(candidates[i], scores[i]);
  return best.Take();
}

std::vector<PointIndex> PickDiverse(const TaskSpace& space, const std::vector<PointIndex>& candidates, size_t count,
                                  double weight) {
  struct Candidate {
    size_t space = 0;
    std::vector<size_t> digits;
    double standing = 0;
    bool taken = false;
  };
  std::vector<Candidate> all;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const double standing = 1 - static_cast<double>(i) / static_cast<double>(candidates.size());
    const TaskSpace::Place place = space.Find(candidates[i]);
    all.push_back({place.space, space.spaces()[place.space].Digits(place.index), standing});
  }
  std::set<std::tuple<size_t, size_t, size_t>> used;  // template, knob, digit
  std::vector<PointIndex> chosen;
  while (chosen.size() < std::min(count, candidates.size())) {
    size_t next = 0;
    double largest = -1;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].taken) continue;
      const Candidate& c = all[i];
      double fresh = 0;
      for (size_t k = 0; k < c.digits.size(); ++k) fresh += used.count({c.space, k, c.digits[k]}) == 0;
      const double value = c.standing + weight * fresh / static_cast<double>(std::max<size_t>(1, c.digits.size()));
      if (value <= largest) continue;
      largest = value;
      next = i;
    }
    all[next].taken = true;
    chosen.push_back(candidates[next]);
    const Candidate& c = all[next];
    for (size_t k = 0; k < c.digits.size(); ++k) used.insert({c.space, k, c.digits[k]});
  }
  return chosen;
}

}  // namespace hone::search
