#include "search/tuner/auto_donors.h"

#include <algorithm>
#include <cmath>

namespace hone::search {
namespace {

constexpr size_t kDonorRows = 256;  // total; the model's cost is their number times that of the points
constexpr size_t kFewerRows = 96;   // if there are more than kManyPoints
constexpr size_t kManyPoints = 20000;
constexpr size_t kFewestRows = 8;  // per donor
constexpr double kTrust = 8;       // distance at which a donor's labels count half
constexpr double kWithin = 1.0;    // log: points slower than e times a donor's best tell little about good ones
constexpr double kNoise = 0.1;     // shapes differ in their preferences
// A single donor cannot be checked against others, so it counts half. With more donors, their agreement counts: only
// this (small) variance weighs against it.
constexpr double kAlone = 0.5, kUsualVariance = 2e-5;

// The distance between two tasks: doublings between their extents, plus kOtherKind for each attribute or extent of the
// window that differs.
double Distance(const Workload& a, const Workload& b) {
  constexpr double kOtherKind = 3;
  if (a.op != b.op || a.inputs.size() != b.inputs.size()) return 10 * kOtherKind;
  double distance = a.attributes == b.attributes ? 0 : kOtherKind;
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    const std::vector<int64_t>&x = a.inputs[i].shape, &y = b.inputs[i].shape;
    if (x.size() != y.size()) return 10 * kOtherKind;
    for (size_t d = 0; d < x.size(); ++d) {
      if (x[d] < 1 || y[d] < 1 || x[d] == y[d]) continue;
      const bool window = i == 1 && d >= 2;
      distance += window ? kOtherKind : std::fabs(std::log2(static_cast<double>(x[d]) / static_cast<double>(y[d])));
    }
  }
  return distance;
}

struct Rows {
  std::vector<std::vector<float>> values;
  std::vector<int> groups;
  std::vector<double> labels;
  struct Part {
    size_t begin = 0, end = 0;  // rows of one donor
    double weight = 1;
  };
  std::vector<Part> parts;
};

// Whether any template has an estimate. Residuals with and without an estimate are not comparable: templates without
// one are used only if no template has one.
bool Estimated(const AutoPoints& points) {
  return std::ranges::any_of(points.templates, [](const AutoPoints::Template& t) { return t.estimates > 0; });
}

// Adds up to `most` of a donor's points: its fastest half, and others evenly. `trust` scales its labels.
void AddDonor(const Donor& donor, const AutoPoints& points, const TaskSpace& space, const TunerContext& context,
              size_t most, double trust, Rows* rows) {
  std::vector<const Outcome*> ok;
  for (const Outcome& outcome : donor.outcomes) {
    if (outcome.state == TrialState::kOk && std::isfinite(outcome.median) && outcome.median > 0) ok.push_back(&outcome);
  }
  std::ranges::stable_sort(ok, [](const auto* a, const auto* b) { return a->median < b->median; });
  while (!ok.empty() && std::log(ok.back()->median / ok.front()->median) > kWithin) ok.pop_back();
  if (ok.size() > most) {
    std::vector<const Outcome*> chosen(ok.begin(), ok.begin() + static_cast<std::ptrdiff_t>(most / 2));
    const size_t rest = ok.size() - most / 2, wanted = most - most / 2;
    for (size_t i = 0; i < wanted; ++i) chosen.push_back(ok[most / 2 + i * rest / wanted]);
    ok = std::move(chosen);
  }
  const size_t begin = rows->labels.size();
  const PointCost cost = context.estimate ? context.estimate(donor.workload) : nullptr;
  for (const Outcome* outcome : ok) {
    for (size_t t = 0; t < points.templates.size(); ++t) {
      const size_t estimates = points.templates[t].estimates;
      if (points.templates[t].name != outcome->config.template_name || (estimates == 0 && Estimated(points))) continue;
      std::vector<double> estimate;
      if (estimates > 0) estimate = cost(outcome->config);
      if (estimate.size() != estimates) continue;
      rows->values.push_back(ForeignRow(points, space.spaces()[t], t, outcome->config, estimate));
      rows->groups.push_back(static_cast<int>(t));
      rows->labels.push_back(std::log(outcome->median) - (estimates > 0 ? estimate[0] : 0));
    }
  }
  // The overall speed of the donor's shape does not carry over to this shape.
  double mean = 0;
  for (size_t i = begin; i < rows->labels.size(); ++i) mean += rows->labels[i];
  mean /= static_cast<double>(std::max<size_t>(rows->labels.size() - begin, 1));
  for (size_t i = begin; i < rows->labels.size(); ++i) rows->labels[i] = trust * (rows->labels[i] - mean);
}

// Learns from all rows except those of `without`.
std::unique_ptr<GaussianModel> Learn(const Rows& rows, const AutoPoints& points, const Rows::Part& without) {
  std::vector<float> weights(points.mains, 0);
  for (const AutoPoints::Template& t : points.templates) {
    for (size_t c = 0; c < t.columns; ++c) weights[c] = c < t.estimates ? 0.85F : 1.2F;
  }
  auto model = std::make_unique<GaussianModel>(points.columns, weights);
  GaussianSettings settings;
  settings.common = 0.3;
  settings.noise = kNoise;
  model->set_settings(settings);
  std::vector<GaussianRow> training;
  std::vector<double> labels;
  for (size_t i = 0; i < rows.labels.size(); ++i) {
    if (i >= without.begin && i < without.end) continue;
    training.push_back({rows.values[i].data(), rows.groups[i]});
    labels.push_back(rows.labels[i]);
  }
  model->Fit(training, labels, false);
  return model;
}

// The trust in a correction: the slope of each donor's labels over the predictions from all others.
double Share(const Rows& rows, const AutoPoints& points) {
  double predicted = kUsualVariance, right = kAlone * kUsualVariance;
  for (const Rows::Part& part : rows.parts) {
    const auto size = static_cast<double>(part.end - part.begin);
    if (rows.parts.size() < 2 || size < 4) continue;
    const std::unique_ptr<GaussianModel> others = Learn(rows, points, part);
    std::vector<double> said;
    double mean = 0, label_mean = 0;
    for (size_t i = part.begin; i < part.end; ++i) {
      said.push_back(others->Mean({rows.values[i].data(), rows.groups[i]}));
      mean += said.back() / size;
      label_mean += rows.labels[i] / size;
    }
    for (size_t i = part.begin; i < part.end; ++i) {
      const double x = said[i - part.begin] - mean;
      predicted += part.weight * x * x / size;
      right += part.weight * x * (rows.labels[i] - label_mean) / size;
    }
  }
  return std::clamp(right / predicted, 0.0, 1.0);
}

}  // namespace

DonorModel::DonorModel(const AutoPoints& points, const TaskSpace& space, const TunerContext& context)
    : points_(points) {
  if (context.donors.empty() || points.rows() == 0) return;
  const size_t most = points.rows() > kManyPoints ? kFewerRows : kDonorRows;
  std::vector<std::pair<double, const Donor*>> nearest;
  for (const Donor& donor : context.donors) nearest.push_back({Distance(donor.workload, context.workload), &donor});
  std::ranges::stable_sort(nearest, [](const auto& a, const auto& b) { return a.first < b.first; });
  Rows rows;
  for (const auto& [distance, donor] : nearest) {
    // Nearer donors get more rows: each takes a third of the rest.
    const size_t room = most - rows.labels.size();
    if (room < kFewestRows) break;
    const size_t begin = rows.labels.size();
    AddDonor(*donor, points, space, context, std::max(room / 3, kFewestRows), kTrust / (kTrust + distance), &rows);
    if (rows.labels.size() > begin) rows.parts.push_back({begin, rows.labels.size(), 1 / (1 + distance)});
  }
  if (rows.labels.size() < 8) return;
  share_ = Share(rows, points);
  model_ = Learn(rows, points, {});
  values_ = std::move(rows.values);  // keeps each row where the model points
}

float DonorModel::Correction(size_t row) const {
  return static_cast<float>(share_ * model_->Mean({points_.row(row), points_.template_of[row]}));
}

}  // namespace hone::search
