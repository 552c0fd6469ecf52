// The tuner `auto`. It ranks points by the operator's closed-form estimate, corrects the estimate by a Gaussian process
// over the measured times (auto_model.h), and tries the points with the largest expected improvement, a few at a time.
//
// - Points: all legal points of a space with at most kMostRows; otherwise a seeded sample with the defaults, all tried
//   points, and for each group points near the fastest ones.
// - Groups: kGroup trials (or the context's number), ending at multiples of that in the history's length. A group
//   depends only on the history before it, so a resume in its middle ends with the same trials.
// - Choice: the first group begins with the templates' defaults and then follows the estimate. Later, one trial of each
//   group has a knob value that no trial had; when all values were tried, a pair of values that no trial had.
// - Labels: log(time) - log(estimate). A pruned trial counts with its lower bound. A failed one counts only in the
//   share of failures near a point, which scales the point's improvement. Failures of the device do not count.
// - Donors: their labels, minus each donor's mean, give the model's mean before anything is measured, as far as donors
//   predict each other (half of it with one donor). The first group is chosen without them.
// doc/internals/search.md explains the choices.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "search/tuner/auto_donors.h"
#include "search/tuner/auto_points.h"
#include "search/tuner/auto_tried.h"
#include "search/tuner/auto_view.h"
#include "search/tuner/tuner.h"

namespace hone::search {

class AutoTuner : public Tuner {
 public:
  static constexpr size_t kGroup = 4;
  static constexpr uint64_t kMostPoints = uint64_t{1} << 22;  // points in total, up to which a space is enumerated
  static constexpr size_t kMostRows = 100000;

  AutoTuner(const TaskSpace& space, uint64_t seed, const TunerContext& context);

  const char* name() const override { return "auto"; }
  void Prepare() override;
  std::vector<PointIndex> NextBatch(int n) override;
  void Update(const std::vector<Outcome>& outcomes) override;

  // The largest expected improvement among the remaining points, after the last whole group of the history.
  std::optional<double> ExpectedGain() const override { return expected_gain_; }

 private:
  struct Seen {
    PointIndex index = 0;
    size_t row = SIZE_MAX;  // not among the points, or not yet found (FindRows)
    TrialState state = TrialState::kOk;
    bool says_nothing = false;  // the device failed, not the candidate
    double log_time = 0;
  };

  // Decides between rows of equal promise, lower first. With an estimate: the lower index. Without one, most rows are
  // equal, and the seed decides; otherwise all would have the first few values of the last knobs.
  PointIndex Turn(size_t row) const;
  // Rows sorted by their values, the smallest first.
  std::vector<size_t> Ascending(const std::vector<float>& values) const;
  void PlanGroup();  // sets plan_ for the group that contains the history's end
  std::vector<PointIndex> Plan(size_t history);
  // Computes corrections for rows that lack them.
  void CorrectRows();
  void FindRows(size_t history);
  std::vector<size_t> Fastest(size_t history) const;
  std::vector<size_t> RowsNearFastest(size_t history);
  std::vector<size_t> ActiveRows(size_t history, const std::vector<size_t>& near,
                                 const IndexSet& known) const;
  void Fit(size_t history);
  double Works(size_t row, const std::vector<size_t>& failed, const std::vector<size_t>& worked) const;

  const TaskSpace& space_;
  const uint64_t seed_;
  const TunerContext context_;
  const size_t group_;  // trials
  bool prepared_ = false;
  AutoPoints points_;
  std::vector<float> prior_;       // per row: log time up to a constant, before anything is measured
  std::vector<float> correction_;  // of the estimate, from donors; empty without donors
  std::vector<size_t> by_prior_;   // original rows, the most promising first
  std::unique_ptr<DonorModel> donors_;
  std::unique_ptr<AutoView> view_;
  std::unique_ptr<TriedValues> tried_;
  size_t tried_count_ = 0;  // number of trials processed so far
  double best_log_ = 0;     // log of the fastest time
  bool any_ok_ = false;
  std::vector<Seen> history_;  // in order
  size_t found_ = 0;           // trials whose rows have been looked up
  size_t kept_ = 0;            // number of permanent rows; later ones belong to one group
  IndexSet known_;
  std::vector<PointIndex> plan_;  // the group that begins at plan_at_
  size_t plan_at_ = SIZE_MAX;
  IndexSet proposed_;  // not in the history yet
  std::optional<double> expected_gain_;
};

}  // namespace hone::search
