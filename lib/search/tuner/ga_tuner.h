// The genetic tuner: each round is a generation.
//
// Parents are the trials of the last round and the best `elites` of all earlier ones, which are not measured again. Two
// different parents are chosen, fitter ones with higher probability. The child has the first knobs of one and the last
// of the other; then each knob is drawn anew with probability `mutation`. Illegal, known and repeated children are
// replaced, so nothing is measured twice. Parents of different templates give a child of the first one. Children never
// change template, so with several templates `newcomers` points of each generation are random. Points are also random
// before the first success, and if no child is found.
#pragma once

#include <cstdint>
#include <vector>

#include "search/tuner/plan_tuner.h"
#include "search/tuner/points.h"

namespace hone::search {

struct GaOptions {
  int population = 16;
  int elites = 4;
  int newcomers = 2;  // used if there are several templates
  double mutation = 0.1;
  double pressure = 4;  // a parent's probability is proportional to this power of its share of the best speed
  static GaOptions LikeAutotvm() {
    return {.population = 100, .elites = 3, .newcomers = 0, .mutation = 0.1, .pressure = 1};
  }
};

class GaTuner : public PlanTuner {
 public:
  GaTuner(const TaskSpace& space, uint64_t seed, const GaOptions& options)
      : PlanTuner(options.population), points_(space), seed_(seed), options_(options) {}
  const char* name() const override { return "ga"; }

 protected:
  std::vector<PointIndex> Plan(int64_t round, const std::vector<Outcome>& history) override;

 private:
  struct Parent {
    PointIndex index = 0;
    double fitness = 0;
  };
  std::vector<Parent> Parents(const std::vector<Outcome>& history) const;
  PointIndex Child(PointIndex first, PointIndex second, Rng* rng) const;

  const Points points_;
  const uint64_t seed_;
  const GaOptions options_;
};

}  // namespace hone::search
