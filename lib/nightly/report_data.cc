#include "nightly/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>


namespace hone::nightly {
namespace {


// The trend is made of all nights, as its levels and epochs need them; then the last ones stay.
void Shorten(NightSeries* series, int64_t* older) {
  const size_t count = series->nights.size();
  if (count <= kNightsTold) return;
  const size_t cut = count - kNightsTold;
  *older = std::max(*older, static_cast<int64_t>(cut));
  Trend& trend = series->trend;
  series->nights.erase(series->nights.begin(), series->nights.begin() + cut);
  trend.values.erase(trend.values.begin(), trend.values.begin() + std::min(cut, trend.values.size()));
  trend.epochs.erase(trend.epochs.begin(), trend.epochs.begin() + std::min(cut, trend.epochs.size()));
  std::erase_if(trend.changes, [cut](const ChangePoint& change) { return change.index < cut; });
  for (ChangePoint& change : trend.changes) change.index -= cut;
}

Verdict ConcludeSeries(NightlyData* data, NightSeries NightlyJob::* which, const std::string& night) {
  std::map<std::string, std::vector<Night>> histories;
  for (const NightlyJob& job : data->jobs) {
    // Every accepted job has a main series; of the replay there are those that ran.
    if (which == &NightlyJob::series || !(job.*which).nights.empty()) histories[job.job] = (job.*which).nights;
  }
  Verdict verdict = Judge(histories, night);
  for (NightlyJob& job : data->jobs) {
    NightSeries& series = job.*which;
    series.trend = TrendOf(series.nights);
    Shorten(&series, &data->older);
    for (const JobVerdict& found : verdict.jobs) {
      if (found.job == job.job) series.verdict = found;
    }
    for (const Night& candidate : series.nights) {
      if (!verdict.night.empty() && candidate.night == verdict.night) series.tonight = &candidate;
    }
    // Lines without a `night`: the last one, if it was counted.
    if (series.tonight == nullptr && !series.nights.empty() && series.verdict.state != JobState::kMissing &&
        !series.verdict.job.empty())
      series.tonight = &series.nights.back();
  }
  return verdict;
}

}  // namespace

std::vector<const NightlyJob*> NightlyData::ByInterest() const {
  std::vector<const NightlyJob*> order;
  for (const NightlyJob& job : jobs) order.push_back(&job);
  std::stable_sort(order.begin(), order.end(), [](const NightlyJob* a, const NightlyJob* b) {
    return Rank(a->series.verdict.state) < Rank(b->series.verdict.state);
  });
  return order;
}

std::vector<const NightlyJob*> NightlyData::Changed() const {
  std::vector<const NightlyJob*> changed;
  for (const NightlyJob* job : ByInterest()) {
    const JobState state = job->series.verdict.state;
    if (state == JobState::kSlower || state == JobState::kFaster) changed.push_back(job);
  }
  return changed;
}

bool NightlyData::HasReplay() const {
  return std::any_of(jobs.begin(), jobs.end(), [](const NightlyJob& job) { return !job.replay.nights.empty(); });
}

void Conclude(NightlyData* data) {
  data->older = 0;
  data->verdict = ConcludeSeries(data, &NightlyJob::series, data->night);
  data->replay_verdict = ConcludeSeries(data, &NightlyJob::replay, "");
}

std::vector<KernelHistory> KernelsOf(const NightSeries& series) {
  const auto last = std::find_if(series.nights.rbegin(), series.nights.rend(),
                                 [](const Night& night) { return !night.library.layers.empty(); });
  if (last == series.nights.rend()) return {};
  std::vector<KernelHistory> kernels;
  std::map<std::string, size_t> index;
  for (const Layer& layer : last->library.layers) {
    if (!index.emplace(layer.node, kernels.size()).second) continue;
    kernels.push_back({layer.node, std::vector<double>(series.nights.size(), 0), layer.seconds, 0});
  }
  for (const Layer& layer : last->reference.layers) {
    if (const auto at = index.find(layer.node); at != index.end()) kernels[at->second].reference = layer.seconds;
  }
  for (size_t i = 0; i < series.nights.size(); ++i) {
    for (const Layer& layer : series.nights[i].library.layers) {
      if (const auto at = index.find(layer.node); at != index.end()) kernels[at->second].seconds[i] = layer.seconds;
    }
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelHistory& a, const KernelHistory& b) { return a.now > b.now; });
  return kernels;
}

std::string ChangeText(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return "-";
  return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string IntervalText(const Comparison& c) {
  if (!(c.low > 0) || !(c.high > 0) || !std::isfinite(c.high)) return "-";
  return fmt::format("{:+.1f} .. {:+.1f} %", 100 * (c.low - 1), 100 * (c.high - 1));
}

std::string ChanceText(const Night& night) {
  if (night.library.processes.empty() || night.reference.processes.empty()) return "-";
  return night.comparison.p < 1e-4 ? "< 0.0001" : fmt::format("{:.4f}", night.comparison.p);
}

std::string DayText(const std::string& recorded) { return recorded.substr(0, 10); }

std::string StateText(const NightSeries& series) { return JobStateName(series.verdict.state); }

}  // namespace hone::nightly
