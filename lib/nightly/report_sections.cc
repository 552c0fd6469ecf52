#include "nightly/report_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "base/text.h"
#include "report/figures.h"
#include "report/svg.h"

namespace hone::nightly {
namespace {

using report::HtmlWriter;
using report::Mark;
using report::PageWriter;
using report::ShareRow;
using report::TrendFigure;

using Border = TrendFigure::Border;

std::string NightWords(const Night& night) {
  std::string words = DayText(night.recorded);
  if (!night.failure.empty()) return words + ": not measured: " + night.failure;
  words += fmt::format(": {}, {} against its reference ({})", FormatSeconds(Median(night.library.processes)),
                       ChangeText(night.comparison.ratio), IntervalText(night.comparison));
  if (!night.environment.empty()) words += "; " + night.environment;
  if (!night.no_canary.empty()) words += "; without its canary: " + night.no_canary;
  return words;
}

// Acceptances stand before the first night that was recorded after them.
std::vector<Border> BordersOf(const NightSeries& series, const std::vector<Acceptance>& accepted) {
  std::vector<Border> borders;
  const std::vector<Night>& nights = series.nights;
  const Trend& trend = series.trend;
  for (size_t i = 1; i < nights.size() && i < trend.epochs.size(); ++i) {
    if (trend.epochs[i] == trend.epochs[i - 1]) continue;
    const bool machine = nights[i].fingerprint != nights[i - 1].fingerprint;
    borders.push_back({i, Border::Kind::kEpoch,
                       fmt::format("{}: the machine changed ({})", DayText(nights[i].recorded),
                                   machine ? "another fingerprint" : "the canary runs at another level")});
  }
  for (const ChangePoint& change : trend.changes) {
    if (change.index >= nights.size()) continue;
    const bool slower = change.after > change.before;
    borders.push_back({change.index, slower ? Border::Kind::kSlower : Border::Kind::kFaster,
                       fmt::format("{}: level {} by {}", DayText(nights[change.index].recorded), slower ? "up" : "down",
                                   ChangeText(change.after / change.before))});
  }
  for (const Acceptance& acceptance : accepted) {
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

TrendFigure FigureOf(const std::string& job, const NightSeries& series,
                     const std::vector<Acceptance>& accepted) {
  TrendFigure figure;
  std::vector<double> known;
  for (size_t i = 0; i < series.nights.size(); ++i) {
    const Night& night = series.nights[i];
    TrendFigure::Night point;
    const bool canary = night.canary && !night.canary->processes.empty() && !night.library.processes.empty();
    // A night that says nothing about the library is drawn all the same, where it would stand.
    if (canary) point.value = Median(night.library.processes) / Median(night.canary->processes);
    point.counted = night.Usable();
    const Comparison& c = night.comparison;
    if (c.ratio > 0 && c.low > 0 && c.high > 0) {
      point.low = point.value * c.low / c.ratio;
      point.high = point.value * c.high / c.ratio;
    }
    point.words = NightWords(night);
    if (point.counted && point.value > 0) known.push_back(point.value);
    figure.nights.push_back(std::move(point));
  }
  figure.level = known.empty() ? 1 : Median(known);
  figure.borders = BordersOf(series, accepted);
  if (!series.nights.empty()) {
    figure.first = DayText(series.nights.front().recorded);
    figure.last = DayText(series.nights.back().recorded);
  }
  figure.title = fmt::format("{} over {} nights: latency as a share of the canary's", job, series.nights.size());
  for (const Border& border : figure.borders)
    figure.description += (figure.description.empty() ? "" : "; ") + border.words;
  if (figure.description.empty()) figure.description = "no change of level";
  return figure;
}

void TrendCard(const std::string& job, const NightSeries& series, const std::vector<Acceptance>& accepted,
               bool words, PageWriter* page) {
  HtmlWriter& html = page->html();
  TrendFigure figure = FigureOf(job, series, accepted);
  // Each night in words is half of a figure's bytes.
  if (!words) {
    for (TrendFigure::Night& night : figure.nights) night.words.clear();
  }
  html.Open("figure").Open("h3").Text(job + " ");
  page->MarkWord(MarkOf(series.verdict.state), StateText(series));
  html.Close();
  DrawTrend(figure, &html);
  const size_t gaps = std::count_if(figure.nights.begin(), figure.nights.end(),
                                    [](const TrendFigure::Night& night) { return !(night.value > 0); });
  std::string caption = figure.description;
  if (gaps > 0) caption += fmt::format("; {} of {} nights have no figure", gaps, figure.nights.size());
  html.Element("figcaption", caption).Close();
}

void KernelTable(const NightlyJob& job, const std::vector<KernelHistory>& kernels, double now_sum, PageWriter* page) {
  HtmlWriter& html = page->html();
  page->BeginTable("kernels of " + job.job, {{"no.", true},
                                             {"kernel"},
                                             {"time", true},
                                             {"share", true},
                                             {"reference", true},
                                             {"difference", true},
                                             {"change", true},
                                             {"nights"}});
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelHistory& kernel = kernels[i];
    page->BeginRow();
    page->Number(std::to_string(i + 1));
    page->RowName(kernel.node);
    page->Number(FormatSeconds(kernel.now));
    page->Number(fmt::format("{:.1f} %", now_sum > 0 ? 100 * kernel.now / now_sum : 0));
    page->Number(kernel.reference > 0 ? FormatSeconds(kernel.reference) : "-");
    const double moved = kernel.now - kernel.reference;
    page->Number(kernel.reference > 0 ? (moved < 0 ? "-" : "+") + FormatSeconds(std::abs(moved)) : "-");
    page->Number(kernel.reference > 0 ? ChangeText(kernel.now / kernel.reference) : "-");
    html.Open("td", {{"class", "spark"}});
    DrawSparkline(kernel.seconds, {}, kernel.node + " over the nights", &html);
    html.Close();
    page->EndRow();
  }
  page->EndTable();
}

// Which kernels make up most of the difference.
std::string MovedText(std::vector<KernelHistory> kernels) {
  double sum = 0;
  for (const KernelHistory& kernel : kernels) sum += kernel.reference > 0 ? kernel.now - kernel.reference : 0;
  std::stable_sort(kernels.begin(), kernels.end(), [](const KernelHistory& a, const KernelHistory& b) {
    const auto moved = [](const KernelHistory& k) { return k.reference > 0 ? std::abs(k.now - k.reference) : 0; };
    return moved(a) > moved(b);
  });
  std::string text =
      fmt::format("All kernels together moved by {}{}", sum < 0 ? "-" : "+", FormatSeconds(std::abs(sum)));
  for (size_t i = 0; i < kernels.size() && i < 3; ++i) {
    if (!(kernels[i].reference > 0)) break;
    const double moved = kernels[i].now - kernels[i].reference;
    text += fmt::format("{}{} {}{}", i == 0 ? "; most by " : ", ", kernels[i].node, moved < 0 ? "-" : "+",
                        FormatSeconds(std::abs(moved)));
  }
  return text + ".";
}

void KernelsOfJob(const NightlyJob& job, PageWriter* page) {
  constexpr size_t kParts = 8;
  const std::vector<KernelHistory> kernels = KernelsOf(job.series);
  if (kernels.empty()) return;
  HtmlWriter& html = page->html();
  double now = 0, reference = 0;
  for (const KernelHistory& kernel : kernels) {
    now += kernel.now;
    reference += kernel.reference;
  }
  const JobState state = job.series.verdict.state;
  const bool open = state == JobState::kSlower || state == JobState::kFaster;
  html.Open("details", {{"open", open ? "open" : ""}}).Open("summary").Element("b", job.job).Text(" ");
  html.Element("span",
               fmt::format("{} kernels, {} together{}", kernels.size(), FormatSeconds(now),
                           reference > 0 ? ", " + ChangeText(now / reference) + " against the reference" : ""),
               {{"class", "soft"}});
  html.Close();
  ShareRow now_row{"library", {}}, reference_row{"reference", {}};
  std::vector<std::string> names;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const bool rest = i >= kParts;
    if (!rest || i == kParts) {
      now_row.parts.push_back(0);
      reference_row.parts.push_back(0);
      names.push_back(rest ? "the rest" : kernels[i].node);
    }
    now_row.parts.back() += kernels[i].now;
    reference_row.parts.back() += kernels[i].reference;
  }
  std::vector<ShareRow> rows = {now_row};
  if (reference > 0) rows.push_back(reference_row);
  html.Open("div",
            {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", "shares of the kernels"}});
  html.Open("div", {{"class", "broad"}});
  DrawShares(rows, names, kernels.size() > kParts, "shares of the kernels of " + job.job, &html);
  html.Close().Close();
  if (reference > 0) page->Note(MovedText(kernels));
  KernelTable(job, kernels, now, page);
  html.Close();
}

}  // namespace

Mark MarkOf(JobState state) {
  switch (state) {
    case JobState::kFine:
    case JobState::kFaster:
      return Mark::kGood;
    case JobState::kSlower:
    case JobState::kFailed:
      return Mark::kBad;
    case JobState::kEnvironment:
    case JobState::kMissing:
      return Mark::kOpen;
  }
  return Mark::kOpen;
}

void WriteTrends(const NightlyData& data, PageWriter* page) {
  page->Section("trend", "Trend");
  page->Note(fmt::format(
      "Latency as a share of the canary's, which is never rebuilt, in per cent of the median of the nights; the band "
      "is "
      "the interval of the night's comparison. Triangles: the level changed (up is slower); e: the machine changed; a: "
      "another reference was accepted. Rings are nights that say nothing about the library.{}",
      data.older > 0 ? fmt::format(" {} older nights are in the files alone.", data.older) : ""));
  page->html().Open("div", {{"class", "cards"}});
  for (const NightlyJob* job : data.ByInterest()) {
    if (!job->series.nights.empty()) TrendCard(job->job, job->series, job->accepted, true, page);
  }
  page->html().Close();
}

void WriteKernels(const NightlyData& data, PageWriter* page) {
  page->Section("kernels", "Kernels");
  page->Note(
      "Medians inside the network, of the last night with a profile; the numbers in the bars are those of the table. "
      "Kernels are told, not judged: the gate is on whole networks.");
  for (const NightlyJob* job : data.ByInterest()) KernelsOfJob(*job, page);
}

void WriteReplay(const NightlyData& data, PageWriter* page) {
  page->Section("replay", "Replay: the same choices, today's code generator");
  page->Note("The reference's own choices built again. What moves here is code generation, not the search.");
  page->BeginTable("replay of the references' choices",
                   {{"network"}, {"state"}, {"change", true}, {"interval", true}, {"p", true}, {"in words"}});
  for (const NightlyJob& job : data.jobs) {
    if (job.replay.nights.empty()) continue;
    page->BeginRow();
    page->RowName(job.job);
    page->html().Open("td");
    page->MarkWord(MarkOf(job.replay.verdict.state), StateText(job.replay));
    page->html().Close();
    const Night* night = job.replay.tonight;
    const bool compared = night != nullptr && night->failure.empty();
    page->Number(compared ? ChangeText(night->comparison.ratio) : "-");
    page->Number(compared ? IntervalText(night->comparison) : "-");
    page->Number(compared ? ChanceText(*night) : "-");
    page->Cell(job.replay.verdict.words, "wide");
    page->EndRow();
  }
  page->EndTable();
  page->html().Open("div", {{"class", "cards"}});
  for (const NightlyJob& job : data.jobs) {
    if (job.replay.nights.size() > 1) TrendCard(job.job + ", replay", job.replay, {}, false, page);
  }
  page->html().Close();
}

}  // namespace hone::nightly
