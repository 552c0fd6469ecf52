// Predicts the points of a task from trials of other shapes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "search/space/space.h"
#include "search/tuner/auto_model.h"
#include "search/tuner/auto_points.h"
#include "search/tuner/context.h"

namespace hone::search {

// Chooses the most useful of a task's trials, by their times; 0 marks one that does not count. Takes at most `most` of
// those within e times the fastest: the fastest half, and others evenly. Slower ones tell little about good points.
// Returns indices, the fastest first.
std::vector<size_t> ChooseTrials(const std::vector<double>& seconds, size_t most);

// The mean of a Gaussian process over the donors' log(time) - log(estimate), or log(time) if no template has an
// estimate, minus the donor's mean. Slow trials have more noise.
//
// The columns mean the same for all shapes: the parts of the estimate, numbers of knobs as log2(1 + |v|), and a column
// for each word. They are scaled by their deviation among the donors' rows. Deterministic.
class DonorModel {
 public:
  // `points` must outlive it.
  DonorModel(const AutoPoints& points, const TaskSpace& space, const TunerContext& context);

  bool empty() const { return model_ == nullptr; }  // true without donors
  // The correction to add to a row's log_cost, up to a constant. REQUIRES: !empty()
  float Correction(size_t row) const;

 private:
  // Where the knobs of a template are in a row.
  struct Columns {
    std::map<std::string, size_t> first;  // by "knob", or "knob=word"
    std::vector<float> means, scales;
  };

  std::vector<float> Raw(size_t t, const Config& config, const std::vector<float>& parts) const;
  void AddColumns(size_t t, const Config& config);
  void SetScales(size_t t, const std::vector<std::vector<float>>& raw);
  void ScaleRow(size_t t, std::vector<float>* row) const;  // to columns_ numbers

  const AutoPoints& points_;
  const TaskSpace& space_;
  std::vector<Columns> of_template_;
  size_t columns_ = 0;
  std::vector<std::vector<float>> values_;  // the rows that it learned from
  std::unique_ptr<GaussianModel> model_;
};

// How far a correction fits the trials: the slope of their residuals over it, 0 to 1. Before there are any, kBelief;
// this counts as much as trials whose corrections differ by kBeliefSpread.
class DonorTrust {
 public:
  void Add(double correction, double residual, double weight);
  double Slope() const;

 private:
  struct Trial {
    double correction, residual, weight;
  };
  std::vector<Trial> trials_;
};

}  // namespace hone::search
