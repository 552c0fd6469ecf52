#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics.h"
#include "base/text.h"
#include "nightly/report_outputs.h"
#include "nightly/report_sections.h"
#include "report/figures.h"
#include "report/svg.h"

namespace hone::nightly {
namespace {

using report::DotRow;
using report::HtmlWriter;
using report::Mark;
using report::PageWriter;


// A page being written: a function a section, in the order they appear.
class NightlyPageWriter {
 public:
  explicit NightlyPageWriter(const NightlyData& data)
      : data_(data), page_("Hone, nightly " + DayText(data.verdict.night)), html_(page_.html()) {
    for (const NightlyJob& job : data.jobs) {
      if (const Night* night = job.series.tonight; night != nullptr && night->failure.empty()) {
        const Comparison& c = night->comparison;
        range_ = std::max({range_, std::abs(c.low - 1), std::abs(c.high - 1), c.threshold});
      }
    }
    range_ = std::min(range_ * 1.05, 0.5);
  }

  std::string Write() && {
    VerdictSection();
    Changes();
    Networks();
    Environment();
    WriteTrends(data_, &page_);
    WriteKernels(data_, &page_);
    if (data_.HasReplay()) WriteReplay(data_, &page_);
    Records();
    Commands();
    return std::move(page_).Finish(NightlyJson(data_));
  }

 private:
  void VerdictSection() {
    const Verdict& v = data_.verdict;
    page_.Heading(data_.series == "main" ? "Hone, nightly" : "Hone, nightly " + data_.series,
                  v.night.empty() ? "No night yet" : DayText(v.night), v.night.empty() ? "" : "begun " + v.night);
    const int exit = v.ExitCode();
    std::string sentence = Split(v.Text(), '\n').front();
    if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z')
      sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
    sentence += Names(JobState::kSlower);
    page_.Verdict(exit == 0 ? Mark::kGood : Mark::kBad, sentence + ".");
    Tiles();
    std::vector<std::pair<const char*, const char*>> sections = {{"changes", "Confirmed changes"},
                                                                 {"networks", "Networks"},
                                                                 {"environment", "Environment"},
                                                                 {"trend", "Trend"},
                                                                 {"kernels", "Kernels"}};
    if (data_.HasReplay()) sections.emplace_back("replay", "Replay");
    sections.insert(sections.end(), {{"records", "Records"}, {"commands", "Commands"}});
    page_.Contents(sections);
  }

  void Tiles() {
    const Verdict& v = data_.verdict;
    const int lost = v.Count(JobState::kFailed) + v.Count(JobState::kMissing);
    page_.BeginTiles();
    page_.Tile(fmt::format("{}", v.Count(JobState::kSlower)), "slower, confirmed",
               v.Count(JobState::kSlower) > 0 ? "wrong" : "");
    page_.Tile(fmt::format("{}", v.Count(JobState::kFaster)), "faster, confirmed",
               v.Count(JobState::kFaster) > 0 ? "good" : "");
    page_.Tile(fmt::format("{}", v.Count(JobState::kFine)), "as accepted");
    page_.Tile(fmt::format("{}", v.Count(JobState::kEnvironment)), "the machine was not what it was");
    page_.Tile(fmt::format("{}", lost), "not measured", lost > 0 ? "wrong" : "");
    page_.EndTiles();
  }

  // ": resnet18.cpu +5.2 %, ..", as many as one can read at once.
  std::string Names(JobState state) const {
    constexpr int kTold = 4;
    std::string names;
    int count = 0;
    for (const NightlyJob* job : data_.ByInterest()) {
      if (job->series.verdict.state != state || ++count > kTold) continue;
      names += (names.empty() ? ": " : ", ") + job->job;
      if (job->series.tonight != nullptr) names += " " + ChangeText(job->series.tonight->comparison.ratio);
    }
    return count > kTold ? fmt::format("{} and {} more", names, count - kTold) : names;
  }

  std::vector<size_t> ChangesOf(const NightSeries& series) const {
    std::vector<size_t> changes;
    for (const ChangePoint& change : series.trend.changes) changes.push_back(change.index);
    return changes;
  }

  void Name(const NightlyJob& job) {
    html_.Open("th", {{"scope", "row"}});
    if (job.page.empty()) {
      html_.Text(job.job);
    } else {
      html_.Element("a", job.job, {{"href", job.page}});
    }
    html_.Close();
  }

  // State to p, of a night that was compared; dashes otherwise.
  void Figures(const NightlyJob& job) {
    const Night* night = job.series.tonight;
    html_.Open("td");
    page_.MarkWord(MarkOf(job.series.verdict.state), StateText(job.series));
    // What a row's figures do not say.
    const JobState state = job.series.verdict.state;
    const bool said = state == JobState::kFine || state == JobState::kSlower || state == JobState::kFaster;
    if (!said) html_.Element("small", job.series.verdict.words);
    html_.Close();
    if (night == nullptr || !night->failure.empty()) {
      for (int i = 0; i < 4; ++i) page_.Number("-");
      page_.Cell("-");
      page_.Number("-");
      return;
    }
    const Comparison& c = night->comparison;
    page_.Number(FormatSeconds(Median(night->reference.processes)));
    page_.Number(FormatSeconds(Median(night->library.processes)));
    page_.Number(ChangeText(c.ratio));
    page_.Number(IntervalText(c));
    html_.Open("td", {{"class", "spark"}});
    DrawInterval({c.low - 1, c.ratio - 1, c.high - 1, c.threshold, range_},
                 fmt::format("{} with its interval {}; smaller than {:.1f} % does not count", ChangeText(c.ratio),
                             IntervalText(c), 100 * c.threshold),
                 &html_);
    html_.Close();
    page_.Number(ChanceText(*night));
  }

  void Trend(const NightlyJob& job) {
    html_.Open("td", {{"class", "spark"}});
    DrawSparkline(job.series.trend.values, ChangesOf(job.series),
                  fmt::format("{} over {} nights, as a share of the canary", job.job, job.series.nights.size()),
                  &html_);
    html_.Close();
  }

  void Changes() {
    page_.Section("changes", "Confirmed changes");
    const std::vector<const NightlyJob*> changed = data_.Changed();
    if (changed.empty()) {
      page_.Paragraph("None.");
      return;
    }
    page_.BeginTable("confirmed changes", {{"network"},
                                           {"state"},
                                           {"was", true},
                                           {"now", true},
                                           {"change", true},
                                           {"99 % interval", true},
                                           {fmt::format("within {:.0f} %", 100 * range_)},
                                           {"p", true},
                                           {"nights"}});
    for (const NightlyJob* job : changed) {
      page_.BeginRow();
      Name(*job);
      Figures(*job);
      Trend(*job);
      page_.EndRow();
    }
    page_.EndTable();
    page_.Note(
        "Library and accepted reference ran in turns, in fresh processes; a dot is one process. A change "
        "counts "
        "if it is larger than the grey middle, improbable by the rank test, and found again by an immediate repeat.");
    html_.Open("div", {{"class", "cards"}});
    for (const NightlyJob* job : changed) Processes(*job);
    html_.Close();
  }

  void Processes(const NightlyJob& job) {
    const Night* night = job.series.tonight;
    if (night == nullptr) return;
    std::vector<DotRow> rows = {{"reference", night->reference.processes}, {"library", night->library.processes}};
    if (night->repeat) {
      rows.push_back({"again: ref.", night->repeat->reference});
      rows.push_back({"again: lib.", night->repeat->library});
    }
    html_.Open("figure").Element("h3", job.job);
    DrawDotRows(rows, "seconds of each process of " + job.job, &html_);
    html_.Element("figcaption", job.series.verdict.words).Close();
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
                                      {fmt::format("within {:.0f} %", 100 * range_)},
                                      {"p", true},
                                      {"nights"},
                                      {"noise", true}});
    for (const NightlyJob* job : data_.ByInterest()) {
      page_.BeginRow();
      Name(*job);
      Figures(*job);
      Trend(*job);
      page_.Number(NoiseText(*job));
      page_.EndRow();
    }
    page_.EndTable();
    page_.Note(
        "Times are those of undisturbed runs, the median over the processes. Noise: the robust standard deviation of "
        "what the same measurement says of equal libraries, of the nights "
        "shown.");
  }

  std::string NoiseText(const NightlyJob& job) const {
    const Night* night = job.series.tonight;
    if (night == nullptr) return "-";
    const std::vector<double> ratios = NoiseRatios(job.series.nights, night->fingerprint);
    if (ratios.size() < 2) return "-";
    return fmt::format("{:.2f} %", 100 * RobustDeviation(ratios));
  }

  // Nights by the machine they were measured on, the newest first.
  void Environment() {
    page_.Section("environment", "Environment");
    struct Epoch {
      std::string first, last, host;
      size_t nights = 0;
    };
    std::map<std::string, Epoch> machines;
    std::vector<std::pair<std::string, const Night*>> odd;  // job
    for (const NightlyJob& job : data_.jobs) {
      for (const Night& night : job.series.nights) {
        Epoch& epoch = machines[night.fingerprint];
        if (epoch.nights++ == 0 || night.recorded < epoch.first) epoch.first = night.recorded;
        if (night.recorded >= epoch.last) {
          epoch.last = night.recorded;
          epoch.host = night.host;
        }
        if (!night.Usable()) odd.emplace_back(job.job, &night);
      }
    }
    std::vector<std::pair<std::string, Epoch>> order(machines.begin(), machines.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second.last > b.second.last; });
    page_.BeginTable("machines", {{"from"}, {"to"}, {"measurements", true}, {"host"}, {"fingerprint"}});
    for (const auto& [fingerprint, epoch] : order) {
      page_.BeginRow();
      page_.Cell(DayText(epoch.first));
      page_.Cell(DayText(epoch.last));
      page_.Number(FormatCount(static_cast<int64_t>(epoch.nights)));
      page_.Cell(epoch.host);
      page_.Code(fingerprint);
      page_.EndRow();
    }
    page_.EndTable();
    Odd(odd);
    Problems();
  }

  // A line for all jobs of a night that have the same reason.
  void Odd(const std::vector<std::pair<std::string, const Night*>>& odd) {
    constexpr size_t kTold = 20;
    if (odd.empty()) {
      if (!data_.verdict.night.empty()) page_.Note("Every measurement counted: no canary moved and nothing failed.");
      return;
    }
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> lines;  // by night and reason
    for (const auto& [job, night] : odd) {
      const std::string when = night->night.empty() ? night->recorded : night->night;
      lines[{when, night->failure.empty() ? night->environment : "failed: " + night->failure}].push_back(job);
    }
    html_.Element("h3", "Measurements that say nothing about a library", {{"class", "below"}});
    page_.BeginTable("measurements that say nothing about a library", {{"night"}, {"networks"}, {"why"}});
    size_t told = 0;
    for (auto line = lines.rbegin(); line != lines.rend() && told < kTold; ++line, ++told) {
      page_.BeginRow();
      page_.Cell(DayText(line->first.first));
      page_.Cell(line->second.size() <= 3 ? Join(line->second, ", ") : fmt::format("{} networks", line->second.size()));
      page_.Cell(line->first.second, "wide");
      page_.EndRow();
    }
    page_.EndTable();
    if (lines.size() > kTold) page_.Note(fmt::format("And {} lines more of nights before.", lines.size() - kTold));
  }

  void Problems() {
    constexpr size_t kTold = 20;
    std::vector<std::string> all = data_.problems;
    for (const NightlyJob& job : data_.jobs) all.insert(all.end(), job.problems.begin(), job.problems.end());
    if (all.empty()) return;
    html_.Element("h3", "Files that could not be read as a whole", {{"class", "below"}}).Open("ul");
    for (size_t i = 0; i < all.size() && i < kTold; ++i) html_.Element("li", all[i]);
    if (all.size() > kTold) html_.Element("li", fmt::format("and {} more", all.size() - kTold));
    html_.Close();
  }

  void Records() {
    page_.Section("records", "Records changed");
    page_.BeginTable("references",
                     {{"network"}, {"accepted"}, {"by"}, {"reason"}, {"reference"}, {"tasks changed", true}});
    for (const NightlyJob& job : data_.jobs) {
      page_.BeginRow();
      page_.RowName(job.job);
      const bool known = !job.accepted.empty();
      page_.Cell(known ? DayText(job.accepted.back().recorded) : "-");
      page_.Cell(known ? job.accepted.back().by : "-");
      page_.Cell(known ? job.accepted.back().reason : "-", "what");
      page_.Code(known ? job.accepted.back().digest.substr(0, 12) : "", "id");
      page_.Number(FormatCount(static_cast<int64_t>(job.records.size())));
      page_.EndRow();
    }
    page_.EndTable();
    if (std::all_of(data_.jobs.begin(), data_.jobs.end(), [](const NightlyJob& job) { return job.records.empty(); })) {
      page_.Note("Every network is built from the choices that its reference was built from.");
      return;
    }
    html_.Element("h3", "Choices that differ from the reference's", {{"class", "below"}});
    page_.BeginTable("choices that differ from the reference's",
                     {{"network"}, {"task"}, {"time alone, was", true}, {"now", true}, {"choice: was, and now"}});
    for (const NightlyJob& job : data_.jobs) {
      for (const ChangedRecord& record : job.records) {
        page_.BeginRow();
        page_.RowName(job.job);
        html_.Open("td", {{"class", "wide"}}).Element("code", record.task).Empty("br");
        html_.Element("span", record.workload, {{"class", "soft"}}).Close();
        page_.Number(record.was_seconds > 0 ? FormatSeconds(record.was_seconds) : "-");
        page_.Number(record.now_seconds > 0 ? FormatSeconds(record.now_seconds) : "-");
        html_.Open("td", {{"class", "wide"}});
        html_.Open("del").Element("code", record.was.empty() ? "none" : record.was).Close().Empty("br");
        html_.Open("ins").Element("code", record.now.empty() ? "none" : record.now).Close().Close();
        page_.EndRow();
      }
    }
    page_.EndTable();
  }

  void Commands() {
    page_.Section("commands", "Commands");
    page_.Note("To be typed in the work folder.");
    page_.BeginTable("commands that repeat what the rows say", {{"network"}, {"what"}, {"command"}});
    for (const NightlyJob* job : data_.ByInterest()) {
      for (const auto& [what, command] : job->commands) {
        page_.BeginRow();
        page_.RowName(job->job);
        page_.Cell(what);
        page_.Code(command);
        page_.EndRow();
      }
    }
    page_.EndTable();
    page_.Note("All figures of this page are in the JSON text at its end, which is report.json.");
  }

  const NightlyData& data_;
  PageWriter page_;
  HtmlWriter& html_;
  double range_ = 0.03;  // of all interval figures
};

}  // namespace

std::string NightlyHtml(const NightlyData& data) { return NightlyPageWriter(data).Write(); }

}  // namespace hone::nightly
