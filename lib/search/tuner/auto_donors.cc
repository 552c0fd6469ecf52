#include "search/tuner/auto_donors.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace hone::search {
namespace {

constexpr size_t kDonorRows = 1024;  // total; the model's cost is their number times that of the points
constexpr size_t kFewerRows = 256;   // if there are more than kManyPoints
constexpr size_t kManyPoints = 20000;
constexpr size_t kFewestRows = 8;  // per donor
constexpr double kSlower = 3;      // the variance of the noise grows with exp(kSlower * log(time / best)),
constexpr double kMostDoubt = 20;  // at most this many times
constexpr double kNoise = 0.1;     // shapes differ in their preferences
constexpr double kTrust = 4;       // distance at which a donor's trials count half
constexpr float kFarthest = 4;     // deviations beyond which a column is cut
constexpr double kBelief = 0.9, kBeliefSpread = 0.1, kBeliefTrials = 4;

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

// Whether any template has an estimate. Residuals with and without an estimate are not comparable: templates without
// one are used only if no template has one.
bool Estimated(const AutoPoints& points) {
  return std::ranges::any_of(points.templates, [](const AutoPoints::Template& t) { return t.estimates > 0; });
}

struct DonorRow {
  size_t t = 0;
  const Config* config = nullptr;
  std::vector<float> parts;  // of the estimate
  double label = 0, doubt = 1;
};

void AddDonor(const Donor& donor, const AutoPoints& points, const TunerContext& context, size_t most,
              std::vector<DonorRow>* rows) {
  std::vector<double> seconds;
  for (const Outcome& outcome : donor.outcomes) {
    const bool counts = outcome.state == TrialState::kOk && std::isfinite(outcome.median) && outcome.median > 0;
    seconds.push_back(counts ? outcome.median : 0);
  }
  std::vector<const Outcome*> ok;
  for (const size_t i : ChooseTrials(seconds, most)) ok.push_back(&donor.outcomes[i]);
  const size_t begin = rows->size();
  const PointCost cost = context.estimate ? context.estimate(donor.workload) : nullptr;
  double mean = 0, weights = 0;
  for (const Outcome* outcome : ok) {
    for (size_t t = 0; t < points.templates.size(); ++t) {
      const size_t estimates = points.templates[t].estimates;
      if (points.templates[t].name != outcome->config.template_name || (estimates == 0 && Estimated(points))) continue;
      std::vector<double> estimate;
      if (estimates > 0) estimate = cost(outcome->config);
      if (estimate.size() != estimates) continue;
      DonorRow row{.t = t, .config = &outcome->config, .parts = {}, .label = std::log(outcome->median)};
      if (estimates > 0) {
        row.label -= estimate[0];
        row.parts.assign(estimate.begin() + 1, estimate.end());
      }
      row.doubt = std::min(std::exp(kSlower * std::log(outcome->median / ok[0]->median)), kMostDoubt);
      mean += row.label / row.doubt;
      weights += 1 / row.doubt;
      rows->push_back(std::move(row));
    }
  }
  // The overall speed of the donor's shape does not carry over to this shape.
  for (size_t i = begin; i < rows->size(); ++i) (*rows)[i].label -= mean / weights;
}

bool IsNumber(const KnobValue& value) {
  return !value.numbers.empty() && (value.kind == KnobKind::kOther || value.kind == KnobKind::kSplit);
}

}  // namespace

std::vector<size_t> ChooseTrials(const std::vector<double>& seconds, size_t most) {
  constexpr double kWithin = 1;  // log
  std::vector<size_t> order;
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (seconds[i] > 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](size_t i) { return seconds[i]; });
  while (!order.empty() && std::log(seconds[order.back()] / seconds[order[0]]) > kWithin) order.pop_back();
  if (order.size() <= most) return order;
  const size_t half = most / 2, rest = order.size() - half, wanted = most - half;
  std::vector<size_t> chosen(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(half));
  for (size_t i = 0; i < wanted; ++i) chosen.push_back(order[half + i * rest / wanted]);
  return chosen;
}

void DonorModel::AddColumns(size_t t, const Config& config) {
  std::map<std::string, size_t>& first = of_template_[t].first;
  for (const KnobValue& value : config.values) {
    const std::string name = IsNumber(value) ? value.name : value.name + "=" + value.Text();
    if (!first.count(name)) first[name] = 0;
  }
}

std::vector<float> DonorModel::Raw(size_t t, const Config& config, const std::vector<float>& parts) const {
  const Columns& columns = of_template_[t];
  std::vector<float> row(columns_, 0);
  std::copy(parts.begin(), parts.end(), row.begin());
  for (const KnobValue& value : config.values) {
    if (IsNumber(value)) {
      const auto at = columns.first.find(value.name);
      if (at == columns.first.end()) continue;
      const size_t skip = value.kind == KnobKind::kSplit ? 1 : 0;
      for (size_t i = skip; i < value.numbers.size() && at->second + i - skip < columns_; ++i) {
        row[at->second + i - skip] = std::log2(1.0F + static_cast<float>(std::llabs(value.numbers[i])));
      }
    } else if (const auto at = columns.first.find(value.name + "=" + value.Text()); at != columns.first.end()) {
      if (at->second < columns_) row[at->second] = 1;
    }
  }
  return row;
}

void DonorModel::SetScales(size_t t, const std::vector<std::vector<float>>& raw) {
  Columns& columns = of_template_[t];
  columns.means.assign(columns_, 0);
  columns.scales.assign(columns_, 0);
  const auto count = static_cast<float>(raw.size());
  size_t used = 0;
  for (size_t c = 0; c < columns_; ++c) {
    float squares = 0;
    for (const std::vector<float>& row : raw) columns.means[c] += row[c] / count;
    for (const std::vector<float>& row : raw) squares += std::pow(row[c] - columns.means[c], 2.0F) / count;
    if (squares < 1e-10F) continue;
    columns.scales[c] = 1 / std::sqrt(squares);
    ++used;
  }
  for (float& scale : columns.scales) scale /= std::sqrt(static_cast<float>(std::max<size_t>(used, 1)));
}

void DonorModel::ScaleRow(size_t t, std::vector<float>* row) const {
  const Columns& columns = of_template_[t];
  size_t used = 0;
  for (const float scale : columns.scales) used += scale > 0;
  const float most = kFarthest / std::sqrt(static_cast<float>(std::max<size_t>(used, 1)));
  for (size_t c = 0; c < row->size(); ++c) {
    (*row)[c] = std::clamp(((*row)[c] - columns.means[c]) * columns.scales[c], -most, most);
  }
}

DonorModel::DonorModel(const AutoPoints& points, const TaskSpace& space, const TunerContext& context)
    : points_(points), space_(space) {
  if (context.donors.empty() || points.rows() == 0) return;
  const size_t most = points.rows() > kManyPoints ? kFewerRows : kDonorRows;
  std::vector<std::pair<double, const Donor*>> nearest;
  for (const Donor& donor : context.donors) nearest.push_back({Distance(donor.workload, context.workload), &donor});
  std::ranges::stable_sort(nearest, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<DonorRow> rows;
  for (size_t d = 0; d < nearest.size() && most - rows.size() >= kFewestRows; ++d) {
    // Nearer donors may have more rows: up to twice an equal share of the rest.
    const size_t share = 2 * (most - rows.size()) / (nearest.size() - d);
    const size_t begin = rows.size();
    AddDonor(*nearest[d].second, points, context, std::clamp(share, kFewestRows, most - rows.size()), &rows);
    for (size_t i = begin; i < rows.size(); ++i) rows[i].doubt *= 1 + nearest[d].first / kTrust;
  }
  if (rows.size() < 8) return;
  of_template_.resize(points.templates.size());
  for (const DonorRow& row : rows) AddColumns(row.t, *row.config);
  for (size_t t = 0; t < of_template_.size(); ++t) {
    size_t next = points.templates[t].estimates > 0 ? points.templates[t].estimates - 1 : 0;
    for (auto& [name, first] : of_template_[t].first) {
      first = next;
      size_t parts = 1;
      for (const DonorRow& row : rows) {
        for (const KnobValue& value : row.config->values) {
          if (row.t == t && value.name == name && IsNumber(value)) parts = std::max(parts, value.numbers.size());
        }
      }
      next += parts;
    }
    columns_ = std::max(columns_, next);
  }
  columns_ = std::min((columns_ + 3) / 4 * 4, GaussianModel::kMostColumns);
  std::vector<std::vector<std::vector<float>>> raw(of_template_.size());
  for (const DonorRow& row : rows) raw[row.t].push_back(Raw(row.t, *row.config, row.parts));
  for (size_t t = 0; t < raw.size(); ++t) SetScales(t, raw[t]);
  std::vector<size_t> taken(raw.size(), 0);
  std::vector<double> labels, doubts;
  for (const DonorRow& row : rows) {
    values_.push_back(std::move(raw[row.t][taken[row.t]++]));
    ScaleRow(row.t, &values_.back());
    labels.push_back(row.label);
    doubts.push_back(row.doubt);
  }
  std::vector<GaussianRow> training;
  for (size_t i = 0; i < rows.size(); ++i) training.push_back({values_[i].data(), static_cast<int>(rows[i].t)});
  model_ = std::make_unique<GaussianModel>(columns_, std::vector<float>(columns_, 0.5F));
  GaussianSettings settings;
  settings.common = 0.1;
  settings.offset = 0.3;
  settings.linear = 0.1;
  settings.bend = 0.3;
  settings.noise = kNoise;
  model_->set_settings(settings);
  model_->Fit(std::move(training), std::move(labels), false, std::move(doubts));
}

float DonorModel::Correction(size_t row) const {
  const size_t t = points_.template_of[row];
  const AutoPoints::Template& info = points_.templates[t];
  std::vector<float> parts;
  for (size_t e = 1; e < info.estimates; ++e) parts.push_back(points_.row(row)[e] + info.means[e]);
  std::vector<float> values = Raw(t, space_.At(points_.index[row]), parts);
  ScaleRow(t, &values);
  return static_cast<float>(model_->Mean({values.data(), static_cast<int>(t)}));
}

void DonorTrust::Add(double correction, double residual, double weight) {
  trials_.push_back({correction, residual, weight});
}

double DonorTrust::Slope() const {
  double weights = 0, correction = 0, residual = 0;
  for (const Trial& t : trials_) {
    weights += t.weight;
    correction += t.weight * t.correction;
    residual += t.weight * t.residual;
  }
  double squares = kBeliefTrials * kBeliefSpread * kBeliefSpread, products = kBelief * squares;
  for (const Trial& t : trials_) {
    const double x = t.correction - correction / weights;
    squares += t.weight * x * x;
    products += t.weight * x * (t.residual - residual / weights);
  }
  return std::clamp(products / squares, 0.0, 1.0);
}

}  // namespace hone::search
