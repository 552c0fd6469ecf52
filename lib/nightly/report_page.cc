#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics.h"
#include "base/text.h"
#include "nightly/report.h"
#include "report/page.h"
#include "report/svg.h"

namespace hone::nightly {
namespace {

using report::Chart;
using report::ChartSeries;
using report::HtmlWriter;
using report::Mark;
using report::PageWriter;

constexpr double kRange = 0.1;  // of all interval figures, to either side

Mark MarkOf(JobState state) {
  if (state == JobState::kFine || state == JobState::kFaster) return Mark::kGood;
  return state == JobState::kSlower || state == JobState::kFailed ? Mark::kBad : Mark::kOpen;
}

// "+5.2 %" for a ratio; "-" if it is unknown (not above 0).
std::string ChangeText(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return "-";
  return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string IntervalText(const Comparison& c) {
  if (!(c.low > 0) || !(c.high > 0) || !std::isfinite(c.high)) return "-";
  return fmt::format("{:+.1f} .. {:+.1f} %", 100 * (c.low - 1), 100 * (c.high - 1));
}

// "2026-11-21" from a full time.
std::string DayText(const std::string& recorded) { return recorded.substr(0, 10); }

// Changes of the machine and of the reference: the first night after each, and what happened.
std::vector<std::pair<size_t, std::string>> EventsOf(const NightlyJob& job) {
  std::vector<std::pair<size_t, std::string>> events;
  const std::vector<Night>& nights = job.nights;
  for (size_t i = 1; i < nights.size(); ++i) {
    if (nights[i].fingerprint == nights[i - 1].fingerprint) continue;
    events.emplace_back(
        i, fmt::format("{}: the machine changed (now {})", DayText(nights[i].recorded), nights[i].fingerprint));
  }
  for (const Acceptance& acceptance : job.accepted) {
    const auto after = std::find_if(nights.begin(), nights.end(),
                                    [&](const Night& night) { return night.recorded >= acceptance.recorded; });
    const size_t index = static_cast<size_t>(after - nights.begin());
    if (index == 0 || after == nights.end()) continue;
    events.emplace_back(index, fmt::format("{}: accepted: {}", DayText(acceptance.recorded), acceptance.reason));
  }
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return events;
}

// Library over canary, times the canary's median: effects of the machine cancel.
Chart TrendOf(const NightlyJob& job) {
  std::vector<double> canary;
  for (const Night& night : job.nights) {
    if (night.CanarySeconds() > 0) canary.push_back(night.CanarySeconds());
  }
  const double pace = Median(canary);
  Chart chart;
  ChartSeries dots{ChartSeries::Kind::kDots, "dots", {}};
  for (const Night& night : job.nights) {
    const double at = static_cast<double>(chart.x_names.size());
    const double seconds = night.Usable() ? night.ShareOfCanary() * pace : 0;
    if (seconds > 0) {
      dots.points.push_back({at, seconds});
    } else {
      chart.ticks.push_back(at);
    }
    chart.x_names.push_back(DayText(night.recorded));
  }
  chart.x_end = static_cast<double>(chart.x_names.size()) - 1;
  chart.x_title = "night";
  chart.label = fmt::format("{} over {} nights: latency at the canary's pace", job.job, job.nights.size());
  for (const auto& [index, words] : EventsOf(job)) {
    chart.dividers.push_back(static_cast<double>(index) - 0.5);
    chart.description += (chart.description.empty() ? "" : "; ") + words;
  }
  if (chart.description.empty()) chart.description = "the same machine and reference in all nights";
  chart.series = {std::move(dots)};
  return chart;
}

struct Kernel {
  std::string node;
  double now = 0;
  double reference = 0;  // 0: it has no such kernel, or was not profiled
};

// The kernels of the last night with a profile, those that slowed down most first.
std::vector<Kernel> KernelsOf(const std::vector<Night>& nights) {
  const auto last =
      std::find_if(nights.rbegin(), nights.rend(), [](const Night& night) { return !night.library.layers.empty(); });
  if (last == nights.rend()) return {};
  std::map<std::string, double> reference;
  for (const Layer& layer : last->reference.layers) reference[layer.node] = layer.seconds;
  std::vector<Kernel> kernels;
  for (const Layer& layer : last->library.layers) kernels.push_back({layer.node, layer.seconds, reference[layer.node]});
  std::ranges::stable_sort(kernels, std::ranges::greater(), [](const Kernel& k) { return k.now - k.reference; });
  return kernels;
}

// Writes a page: one function per section, in order of appearance.
class NightlyPageWriter {
 public:
  explicit NightlyPageWriter(const NightlyData& data)
      : data_(data), page_("Hone, nightly " + DayText(data.verdict.night)), html_(page_.html()) {}

  std::string Write() && {
    Verdict();
    Networks();
    Trends();
    Kernels();
    Problems();
    return std::move(page_).Finish();
  }

 private:
  void Verdict() {
    const std::string& night = data_.verdict.night;
    page_.Heading(data_.series == "main" ? "Hone, nightly" : "Hone, nightly " + data_.series,
                  night.empty() ? "No night yet" : DayText(night), night.empty() ? "" : "begun " + night);
    std::string sentence = Split(data_.verdict.Text(), '\n').front();
    if (sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
    page_.Verdict(data_.verdict.ExitCode() == 0 ? Mark::kGood : Mark::kBad, sentence + ".");
    std::vector<std::pair<const char*, const char*>> sections = {
        {"networks", "Networks"}, {"trend", "Trend"}, {"kernels", "Kernels"}};
    if (!data_.problems.empty()) sections.emplace_back("problems", "Problems");
    page_.Contents(sections);
  }

  void Networks() {
    page_.Section("networks", "Networks");
    if (data_.jobs.empty()) {
      page_.Paragraph("No library is accepted, so there is nothing to compare with.");
      return;
    }
    page_.BeginTable("all networks", {"network", "state", "#reference", "#now", "#change", "#99 % interval",
                                      fmt::format("within {:.0f} %", 100 * kRange), "#p"});
    for (const NightlyJob* job : data_.ByInterest()) {
      page_.BeginRow();
      Name(*job);
      const Night* night = data_.Tonight(*job);
      State(job->verdict, night != nullptr && !night->no_canary.empty());
      Figures(night);
      page_.EndRow();
    }
    page_.EndTable();
    page_.Note(
        "Library and accepted reference ran in turns, in fresh processes; times are those of undisturbed runs, the "
        "median over the processes. A change counts if it is larger than the grey middle, improbable by the rank test, "
        "and found again by an immediate repeat.");
    page_.Note(
        "In the work folder, `ninja nights/NETWORK.tonight` measures a network again, and `hone-report accept --reason "
        "WHY NETWORK` makes its library the reference.");
  }

  // The job's name and its reference.
  void Name(const NightlyJob& job) {
    html_.Open("th", {{"scope", "row"}});
    if (job.page.empty()) {
      html_.Text(job.job);
    } else {
      html_.Element("a", job.job, {{"href", job.page}});
    }
    if (!job.accepted.empty()) {
      const Acceptance& a = job.accepted.back();
      html_.Element("small", fmt::format("accepted {} by {}: {}", DayText(a.recorded), a.by, a.reason));
    }
    html_.Close();
  }

  void State(const JobVerdict& verdict, bool no_canary) {
    html_.Open("td");
    page_.MarkWord(MarkOf(verdict.state), JobStateName(verdict.state));
    // The reason, if the row's figures do not show it.
    if (verdict.state != JobState::kFine || no_canary) html_.Element("small", verdict.words);
    html_.Close();
  }

  // The columns from reference to p for a night that was compared; dashes otherwise.
  void Figures(const Night* night) {
    if (night == nullptr || !night->failure.empty()) {
      for (int i = 0; i < 6; ++i) page_.Number("-");
      return;
    }
    const Comparison& c = night->comparison;
    page_.Number(FormatSeconds(Median(night->reference.processes)));
    page_.Number(FormatSeconds(Median(night->library.processes)));
    page_.Number(ChangeText(c.ratio));
    page_.Number(IntervalText(c));
    Interval(c);
    page_.Number(c.p < 1e-4 ? "< 0.0001" : fmt::format("{:.4f}", c.p));
  }

  // A change with its interval around 0; the grey middle does not count as a change.
  void Interval(const Comparison& c) {
    constexpr double kWidth = 132, kHeight = 22;
    const auto at = [](double share) {
      return report::Coordinate(kWidth / 2 + std::clamp(share / kRange, -1.0, 1.0) * (kWidth / 2 - 4));
    };
    const auto path = [this](const char* style, const std::string& d) {
      html_.Empty("path", {{"class", style}, {"d", d}});
    };
    html_.Open("td", {{"class", "spark"}});
    OpenFigure(kWidth, kHeight,
               fmt::format("{} with its interval {}; smaller than {:.1f} % does not count", ChangeText(c.ratio),
                           IntervalText(c), 100 * c.threshold),
               "", &html_);
    path("rest", fmt::format("M{0} 3H{1}V19H{0}z", at(-c.threshold), at(c.threshold)));
    path("zero", fmt::format("M{} 1V21", at(0)));
    path("line", fmt::format("M{} 11H{}", at(c.low - 1), at(c.high - 1)));
    path("now", fmt::format("M{} 11h0", at(c.ratio - 1)));
    html_.Close().Close();
  }

  void Trends() {
    page_.Section("trend", "Trend");
    page_.Note(
        fmt::format("Latency at the pace of the canary, which is never rebuilt: what the machine does to both is left "
                    "out. Dotted borders: the machine changed, or another reference was accepted. Short marks at the "
                    "bottom are nights that say nothing about the library.{}",
                    data_.older > 0 ? fmt::format(" {} older nights are in the files alone.", data_.older) : ""));
    html_.Open("div", {{"class", "cards"}});
    for (const NightlyJob* job : data_.ByInterest()) {
      if (job->nights.empty()) continue;
      const Chart trend = TrendOf(*job);
      html_.Open("figure").Open("h3").Text(job->job + " ");
      page_.MarkWord(MarkOf(job->verdict.state), JobStateName(job->verdict.state));
      html_.Close();
      DrawChart(trend, &html_);
      html_.Element("figcaption", trend.description).Close();
    }
    html_.Close();
  }

  void Kernels() {
    page_.Section("kernels", "Kernels");
    page_.Note(
        "Medians inside the network, of the last night with a profile; the kernel that became slower by most comes "
        "first. Kernels are shown, not judged: the gate is on whole networks.");
    for (const NightlyJob* job : data_.ByInterest()) KernelsOfJob(*job);
  }

  void KernelsOfJob(const NightlyJob& job) {
    const std::vector<Kernel> kernels = KernelsOf(job.nights);
    if (kernels.empty()) return;
    const bool changed = job.verdict.state == JobState::kSlower || job.verdict.state == JobState::kFaster;
    html_.Open("details", {{"open", changed ? "open" : ""}}).Open("summary").Element("b", job.job);
    html_.Element("span", fmt::format(" {} kernels", kernels.size()), {{"class", "soft"}});
    html_.Close();
    page_.BeginTable("kernels of " + job.job, {"kernel", "#time", "#reference", "#difference", "#change"});
    for (const Kernel& kernel : kernels) {
      const double moved = kernel.now - kernel.reference;
      const bool known = kernel.reference > 0;
      page_.Row({kernel.node, FormatSeconds(kernel.now), known ? FormatSeconds(kernel.reference) : "-",
                 known ? (moved < 0 ? "-" : "+") + FormatSeconds(std::abs(moved)) : "-",
                 known ? ChangeText(kernel.now / kernel.reference) : "-"});
    }
    page_.EndTable();
    html_.Close();
  }

  void Problems() {
    constexpr size_t kShown = 20;
    const std::vector<std::string>& all = data_.problems;
    if (all.empty()) return;
    page_.Section("problems", "Files that could not be read as a whole");
    html_.Open("ul");
    for (size_t i = 0; i < all.size() && i < kShown; ++i) html_.Element("li", all[i]);
    if (all.size() > kShown) html_.Element("li", fmt::format("and {} more", all.size() - kShown));
    html_.Close();
  }

  const NightlyData& data_;
  PageWriter page_;
  HtmlWriter& html_;
};

}  // namespace

std::string NightlyHtml(const NightlyData& data) { return NightlyPageWriter(data).Write(); }

}  // namespace hone::nightly
