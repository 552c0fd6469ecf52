#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics.h"
#include "base/text.h"
#include "nightly/report.h"
#include "report/figures.h"
#include "report/page.h"
#include "report/svg.h"

namespace hone::nightly {
namespace {

using report::HtmlWriter;
using report::Mark;
using report::PageWriter;
using report::TrendFigure;

using Border = TrendFigure::Border;

constexpr double kRange = 0.1;  // of all interval figures, to either side

Mark MarkOf(JobState state) {
  if (state == JobState::kFine || state == JobState::kFaster) return Mark::kGood;
  return state == JobState::kSlower || state == JobState::kFailed ? Mark::kBad : Mark::kOpen;
}

// "+5.2 %" of a ratio; "-" for one that is not known (not above 0).
std::string ChangeText(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return "-";
  return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string IntervalText(const Comparison& c) {
  if (!(c.low > 0) || !(c.high > 0) || !std::isfinite(c.high)) return "-";
  return fmt::format("{:+.1f} .. {:+.1f} %", 100 * (c.low - 1), 100 * (c.high - 1));
}

std::string ChanceText(double p) { return p < 1e-4 ? "< 0.0001" : fmt::format("{:.4f}", p); }

// "2026-11-21", of a longer text as it stands in the files.
std::string DayText(const std::string& recorded) { return recorded.substr(0, 10); }

// Acceptances stand before the first night that was recorded after them.
std::vector<Border> BordersOf(const NightlyJob& job) {
  std::vector<Border> borders;
  const std::vector<Night>& nights = job.nights;
  for (size_t i = 1; i < nights.size(); ++i) {
    if (job.trend.epochs[i] == job.trend.epochs[i - 1]) continue;
    const bool machine = nights[i].fingerprint != nights[i - 1].fingerprint;
    borders.push_back({i, Border::Kind::kEpoch,
                       fmt::format("{}: the machine changed ({})", DayText(nights[i].recorded),
                                   machine ? "now " + nights[i].fingerprint : "the canary runs at another level")});
  }
  for (const ChangePoint& change : job.trend.changes) {
    const bool slower = change.after > change.before;
    borders.push_back({change.index, slower ? Border::Kind::kSlower : Border::Kind::kFaster,
                       fmt::format("{}: level {} by {}", DayText(nights[change.index].recorded), slower ? "up" : "down",
                                   ChangeText(change.after / change.before))});
  }
  for (const Acceptance& acceptance : job.accepted) {
    const auto after = std::find_if(nights.begin(), nights.end(),
                                    [&](const Night& night) { return night.recorded >= acceptance.recorded; });
    const size_t index = static_cast<size_t>(after - nights.begin());
    if (index == 0 || after == nights.end()) continue;
    borders.push_back({index, Border::Kind::kAccepted,
                       fmt::format("{}: accepted: {}", DayText(acceptance.recorded), acceptance.reason)});
  }
  std::stable_sort(borders.begin(), borders.end(), [](const Border& a, const Border& b) { return a.index < b.index; });
  return borders;
}

TrendFigure FigureOf(const NightlyJob& job) {
  TrendFigure figure;
  std::vector<double> known;
  for (const Night& night : job.nights) {
    TrendFigure::Night point;
    point.value = night.ShareOfCanary();  // disturbed nights are drawn too, but do not count
    point.counted = night.Usable();
    const Comparison& c = night.comparison;
    if (c.ratio > 0 && c.low > 0 && c.high > 0) {
      point.low = point.value * c.low / c.ratio;
      point.high = point.value * c.high / c.ratio;
    }
    point.words = DayText(night.recorded) + ": " + NightWords(night);
    if (point.counted && point.value > 0) known.push_back(point.value);
    figure.nights.push_back(std::move(point));
  }
  figure.level = known.empty() ? 1 : Median(known);
  figure.borders = BordersOf(job);
  figure.first = DayText(job.nights.front().recorded);
  figure.last = DayText(job.nights.back().recorded);
  figure.title = fmt::format("{} over {} nights: latency as a share of the canary's", job.job, job.nights.size());
  for (const Border& border : figure.borders)
    figure.description += (figure.description.empty() ? "" : "; ") + border.words;
  if (figure.description.empty()) figure.description = "no change of level";
  return figure;
}

struct Kernel {
  std::string node;
  double now = 0;
  double reference = 0;  // 0: it has no such kernel, or was not profiled
};

// The kernels of the last night that has a profile, those that slowed down most first.
std::vector<Kernel> KernelsOf(const std::vector<Night>& nights) {
  const auto last =
      std::find_if(nights.rbegin(), nights.rend(), [](const Night& night) { return !night.library.layers.empty(); });
  if (last == nights.rend()) return {};
  std::map<std::string, double> reference;
  for (const Layer& layer : last->reference.layers) reference[layer.node] = layer.seconds;
  std::vector<Kernel> kernels;
  for (const Layer& layer : last->library.layers) kernels.push_back({layer.node, layer.seconds, reference[layer.node]});
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const Kernel& a, const Kernel& b) { return a.now - a.reference > b.now - b.reference; });
  return kernels;
}

// A page being written: a function a section, in the order they appear.
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
    page_.BeginTable("all networks", {{"network"},
                                      {"state"},
                                      {"reference", true},
                                      {"now", true},
                                      {"change", true},
                                      {"99 % interval", true},
                                      {fmt::format("within {:.0f} %", 100 * kRange)},
                                      {"p", true}});
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
        "median over the processes. A change counts if it is larger than the grey middle, improbable by the rank "
        "test, and found again by an immediate repeat.");
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
    // The reason, where the figures of the row do not show it.
    if (verdict.state != JobState::kFine || no_canary) html_.Element("small", verdict.words);
    html_.Close();
  }

  // Reference to p, of a night that was compared; dashes otherwise.
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
    html_.Open("td", {{"class", "spark"}});
    DrawInterval({c.low - 1, c.ratio - 1, c.high - 1, c.threshold, kRange},
                 fmt::format("{} with its interval {}; smaller than {:.1f} % does not count", ChangeText(c.ratio),
                             IntervalText(c), 100 * c.threshold),
                 &html_);
    html_.Close();
    page_.Number(ChanceText(c.p));
  }

  void Trends() {
    page_.Section("trend", "Trend");
    page_.Note(fmt::format(
        "Latency as a share of the canary's, which is never rebuilt, in per cent of the median of the nights; the band "
        "is the interval of the night's comparison. Triangles: the level changed (up is slower); e: the machine "
        "changed; a: another reference was accepted. Rings are nights that say nothing about the library.{}",
        data_.older > 0 ? fmt::format(" {} older nights are in the files alone.", data_.older) : ""));
    html_.Open("div", {{"class", "cards"}});
    for (const NightlyJob* job : data_.ByInterest()) {
      if (!job->nights.empty()) TrendCard(*job);
    }
    html_.Close();
  }

  void TrendCard(const NightlyJob& job) {
    const TrendFigure figure = FigureOf(job);
    html_.Open("figure").Open("h3").Text(job.job + " ");
    page_.MarkWord(MarkOf(job.verdict.state), JobStateName(job.verdict.state));
    html_.Close();
    DrawTrend(figure, &html_);
    const auto gaps = std::count_if(figure.nights.begin(), figure.nights.end(),
                                    [](const TrendFigure::Night& night) { return !(night.value > 0); });
    std::string caption = figure.description;
    if (gaps > 0) caption += fmt::format("; {} of {} nights have no figure", gaps, figure.nights.size());
    html_.Element("figcaption", caption).Close();
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
    page_.BeginTable("kernels of " + job.job,
                     {{"kernel"}, {"time", true}, {"reference", true}, {"difference", true}, {"change", true}});
    for (const Kernel& kernel : kernels) {
      const double moved = kernel.now - kernel.reference;
      const bool known = kernel.reference > 0;
      page_.BeginRow();
      page_.RowName(kernel.node);
      page_.Number(FormatSeconds(kernel.now));
      page_.Number(known ? FormatSeconds(kernel.reference) : "-");
      page_.Number(known ? (moved < 0 ? "-" : "+") + FormatSeconds(std::abs(moved)) : "-");
      page_.Number(known ? ChangeText(kernel.now / kernel.reference) : "-");
      page_.EndRow();
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
