#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/text.h"
#include "report/outputs.h"
#include "report/page.h"
#include "report/report_data.h"
#include "report/svg.h"

namespace hone::report {
namespace {

using Kind = ChartSeries::Kind;

// Trials at the positions that `x` returns; failed ones as ticks.
template <typename X>
Chart TrialChart(const std::vector<const TrialFact*>& trials, X x) {
  Chart chart;
  ChartSeries ok{Kind::kDots, "dots", {}}, pruned{Kind::kCarets, "pruned", {}};
  for (size_t i = 0; i < trials.size(); ++i) {
    const TrialFact& trial = *trials[i];
    const double at = x(i);
    if (trial.state == TrialState::kFailed) chart.ticks.push_back(at);
    if (trial.state == TrialState::kPruned) pruned.points.push_back({at, trial.seconds});
    if (trial.state == TrialState::kOk) ok.points.push_back({at, trial.seconds});
    chart.x_end = std::max(chart.x_end, at);
  }
  chart.series = {std::move(pruned), std::move(ok)};
  return chart;
}

class Section {
 public:
  Section(const ReportData& data, PageWriter* page) : data_(data), page_(*page), html_(page->html()) {}

  void Write() {
    page_.Section("tuning", "Tuning");
    if (data_.Sum().trials == 0) {
      page_.Paragraph("No task has trials.");
      return;
    }
    if (const std::string disturbed = DisturbedText(data_.Sum()); !disturbed.empty()) {
      page_.Paragraph("Note: " + disturbed + ".");
    }
    if (!data_.rounds.empty()) Rounds();
    Keys();
    html_.Open("div", {{"class", "cards"}});
    for (const TaskFact& task : data_.tasks) {
      if (!task.trials.empty()) ByTrial(task);
    }
    html_.Close();
    page_.Section("knobs", "Configurations by knob");
    page_.Note(fmt::format(
        "Every configuration tried, over the values of its knobs: of each task the {} knobs whose values explain most "
        "of the spread of the times (of their logarithms, corrected for the number of values).",
        kKnobsTold));
    for (const TaskFact& task : data_.tasks) {
      if (!task.trials.empty()) ByKnob(task);
    }
  }

 private:
  void Keys() {
    html_.Open("p", {{"class", "legend soft"}});
    DrawKey(Kind::kDots, "dots", "a correct trial's time", &html_);
    DrawKey(Kind::kCarets, "pruned", "cut off as hopeless: at least this slow", &html_);
    DrawKey(Kind::kSteps, "best", "best so far", &html_);
    html_.Open("span").Open("svg", {{"viewBox", "0 0 18 12"}, {"aria-hidden", "true"}});
    html_.Empty("path", {{"class", "bad"}, {"d", "M9 11v-7"}}).Close().Text(" failed").Close();
    html_.Close();
  }

  void Rounds() {
    page_.Note(
        "The budget was shared in rounds. The estimated total is the sum of the tasks' best times, each times its "
        "uses: the network without alternatives and without layers that are not tuned.");
    page_.BeginTable("rounds", {"#round", "#estimated total", "#trials", "#seconds", "#tasks without a correct trial"});
    for (const RoundFact& r : data_.rounds) {
      page_.BeginRow();
      for (const std::string& cell : {FormatCount(r.round), FormatSeconds(r.estimated), FormatCount(r.trials),
                                      fmt::format("{:.0f}", r.seconds), FormatCount(r.unknown)}) {
        page_.Number(cell);
      }
      page_.EndRow();
    }
    page_.EndTable();
  }

  static std::vector<const TrialFact*> All(const TaskFact& task) {
    std::vector<const TrialFact*> trials;
    for (const TrialFact& trial : task.trials) trials.push_back(&trial);
    return trials;
  }

  // All trials, and the fastest correct time up to each of them.
  void ByTrial(const TaskFact& task) {
    const std::vector<const TrialFact*> trials = All(task);
    Chart chart = TrialChart(trials, [&](size_t i) { return static_cast<double>(trials[i]->ordinal); });
    ChartSeries best{Kind::kSteps, "best", {}};
    for (const TrialFact* trial : trials) {
      if (trial->state != TrialState::kOk) continue;
      if (!best.points.empty() && trial->seconds >= best.points.back().y) continue;
      best.points.push_back({static_cast<double>(trial->ordinal), trial->seconds});
    }
    const Totals totals = TotalsOf(task);
    chart.description = CountsText(totals);
    if (!best.points.empty()) {
      chart.description += fmt::format("; the first correct one took {}, the best {}",
                                       FormatSeconds(best.points.front().y), FormatSeconds(best.points.back().y));
    }
    chart.series.push_back(std::move(best));
    chart.label = fmt::format("times of the trials of {}, and the best so far", task.id);
    chart.x_title = "trial";
    html_.Open("figure", {{"id", "task-" + task.id}}).Element("h3", ShortWorkload(task.workload));
    DrawChart(chart, &html_);
    std::string caption = fmt::format("{}; {}; {}", task.id, CountsText(totals), FormatSeconds(totals.wall_seconds));
    if (!task.stopped.empty()) caption += "; ended by: " + task.stopped;
    if (task.foreign_trials > 0)
      caption += fmt::format("; {} more of other machines", FormatCount(task.foreign_trials));
    html_.Element("figcaption", caption).Close();
  }

  void Knob(const KnobFact& fact) {
    std::vector<const TrialFact*> trials;
    for (const KnobFact::Use& use : fact.uses) trials.push_back(use.trial);
    // Spread over the value's column by the ordinal times the golden ratio: even and deterministic.
    const auto x = [&](size_t i) {
      const double spread = static_cast<double>(trials[i]->ordinal) * 0.6180339887498949;
      return static_cast<double>(fact.uses[i].value) + 0.6 * (spread - std::floor(spread) - 0.5);
    };
    Chart chart = TrialChart(trials, x);
    chart.x_end = static_cast<double>(fact.values.size()) - 1;
    chart.x_names = fact.values;
    chart.label = fmt::format("times of the trials by the values of {} of {}", fact.knob, fact.template_name);
    chart.description = fmt::format("explains {:.1f} % of the spread", 100 * fact.explained);
    html_.Open("figure").Element("h3", fact.knob);
    DrawChart(chart, &html_);
    html_.Element("figcaption", fmt::format("{}; {} values, explaining {:.1f} % of the spread", fact.template_name,
                                            fact.values.size(), 100 * fact.explained));
    html_.Close();
  }

  void ByKnob(const TaskFact& task) {
    html_.Open("details").Open("summary").Element("span", ShortWorkload(task.workload));
    html_.Element("span", " " + Counted(static_cast<int64_t>(task.trials.size()), "trial"), {{"class", "soft"}});
    html_.Close().Open("div", {{"class", "cards"}});
    for (const KnobFact& fact : KnobFacts(task)) Knob(fact);
    html_.Close().Close();
  }

  const ReportData& data_;
  PageWriter& page_;
  HtmlWriter& html_;
};

}  // namespace

void WriteTuning(const ReportData& data, PageWriter* page) { Section(data, page).Write(); }

}  // namespace hone::report
