// Simulated annealing over a cheap score: many walkers, each taking one step per iteration.
#pragma once

#include <functional>
#include <vector>

#include "search/tuner/points.h"

namespace hone::search {

struct AnnealOptions {
  int iterations = 500;
  int walkers = 128;
  int patience = 50;        // ends after this many iterations without a change among the best points
  bool scale_score = true;  // temperature 1 is the spread of the first scores; else a score of 1
};

// Scores of points, larger is better; finite, of any sign.
using ScoreFunction = std::function<std::vector<float>(const std::vector<PointIndex>&)>;

// Returns the `count` points with the largest score, best first, among all that were proposed to a walker (accepted or
// not) and are not in `known`; of equal scores the smaller index comes first. The temperature falls linearly from 1 to
// 0; a step is accepted with probability exp(difference / temperature). `walkers` holds the walkers' points on entry
// and on return. If it is empty, they start at random legal points; there are fewer walkers if there are fewer such
// points.
std::vector<PointIndex> Anneal(const Points& points, const ScoreFunction& score, size_t count, const IndexSet& known,
                             const AnnealOptions& options, Rng* rng, std::vector<PointIndex>* walkers);

// The same for all `candidates`, without walking.
std::vector<PointIndex> BestOf(const std::vector<PointIndex>& candidates, const ScoreFunction& score, size_t count,
                             const IndexSet& known);

// Picks `count` good and different points from `candidates`, which are sorted best first. Each next point has the
// largest sum of its rank (1 for the first candidate, falling to 0 for the last) and `weight` times the share of its
// knob values that no chosen point has.
std::vector<PointIndex> PickDiverse(const TaskSpace& space, const std::vector<PointIndex>& candidates, size_t count,
                                  double weight);

}  // namespace hone::search
