#include "search/tuner/ga_tuner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hone::search {

constexpr int kTriesAChild = 64;

static size_t Choose(const std::vector<double>& weights, Rng* rng) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double at = rng->UniformDouble() * total;
  for (size_t i = 0; i < weights.size(); ++i) {
    at -= weights[i];
    if (at < 0) return i;
  }
  return weights.size() - 1;
}

std::vector<GaTuner::Parent> GaTuner::Parents(const std::vector<Outcome>& history) const {
  const std::vector<float> shares = SpeedShares(history);
  const size_t generation = history.size() - static_cast<size_t>(options_.population);
  std::vector<size_t> before(generation);
  std::iota(before.begin(), before.end(), size_t{0});
  const size_t elites = std::min(before.size(), static_cast<size_t>(options_.elites));
  std::partial_sort(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(elites), before.end(),
                    [&](size_t a, size_t b) { return shares[a] != shares[b] ? shares[a] > shares[b] : a < b; });
  std::vector<Parent> parents;
  const auto add = [&](size_t i) {
    // A default may be illegal; it has no children.
    if (points_.Legal(history[i].config.index)) {
      parents.push_back({history[i].config.index, std::pow(shares[i], options_.pressure)});
    }
  };
  for (size_t e = 0; e < elites; ++e) add(before[e]);
  for (size_t i = generation; i < history.size(); ++i) add(i);
  return parents;
}

PointIndex GaTuner::Child(PointIndex first, PointIndex second, Rng* rng) const {
  const TaskSpace& task = points_.space();
  const TaskSpace::Place mine = task.Find(first), theirs = task.Find(second);
  const Space& space = task.spaces()[mine.space];
  std::vector<size_t> child = space.Digits(mine.index), other = child;
  if (child.empty()) return first;
  if (theirs.space == mine.space) other = space.Digits(theirs.index);
  const size_t cut = rng->UniformInt(child.size());
  for (size_t k = 0; k < child.size(); ++k) {
    if (k >= cut) child[k] = other[k];
    if (rng->UniformDouble() < options_.mutation) child[k] = rng->UniformInt(space.knobs()[k].size());
  }
  return task.offset(mine.space) + space.IndexOf(child);
}

std::vector<PointIndex> GaTuner::Plan(int64_t round, const std::vector<Outcome>& history) {
  Rng rng(Mix64(seed_ ^ Mix64(static_cast<uint64_t>(round))));
  const IndexSet known = IndicesOf(history);
  const size_t size = static_cast<size_t>(options_.population);
  std::vector<PointIndex> plan;
  IndexSet planned;
  const std::vector<Parent> parents = round == 0 ? std::vector<Parent>() : Parents(history);
  std::vector<double> fitness;
  double sum = 0;
  for (const Parent& p : parents) {
    fitness.push_back(p.fitness + 1e-8);
    sum += p.fitness;
  }
  if (parents.size() >= 2 && sum > 0) {
    const bool several = points_.space().spaces().size() > 1;
    const size_t children = size - static_cast<size_t>(several ? options_.newcomers : 0);
    for (int tries = 0; plan.size() < children && tries < kTriesAChild * options_.population; ++tries) {
      const size_t first = Choose(fitness, &rng);
      std::vector<double> others = fitness;
      others[first] = 0;
      const PointIndex child = Child(parents[first].index, parents[Choose(others, &rng)].index, &rng);
      if (known.count(child) || !points_.Legal(child) || !planned.insert(child).second) continue;
      plan.push_back(child);
    }
  }
  points_.FillUp(size, known, &rng, &plan);
  return plan;
}

}  // namespace hone::search
