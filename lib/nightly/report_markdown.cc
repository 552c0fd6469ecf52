#include <fmt/format.h>

#include "base/statistics.h"
#include "base/text.h"
#include "nightly/report_outputs.h"
#include "report/text_table.h"

namespace hone::nightly {
namespace {

using report::Plain;
using report::TextTable;

constexpr size_t kNightlyColumns = 100;

std::vector<std::string> Row(const NightlyJob& job) {
  const Night* night = job.series.tonight;
  std::vector<std::string> row = {Plain(job.job, 26), StateText(job.series)};
  if (night == nullptr || !night->failure.empty()) {
    row.insert(row.end(), 5, "-");
    return row;
  }
  const Comparison& c = night->comparison;
  row.insert(row.end(),
             {FormatSeconds(Median(night->reference.processes)), FormatSeconds(Median(night->library.processes)),
              ChangeText(c.ratio), IntervalText(c), ChanceText(*night)});
  return row;
}

}  // namespace

std::string NightlyMarkdown(const NightlyData& data) {
  const std::string sentence = Split(data.verdict.Text(), '\n').front();
  const std::string day = data.verdict.night.empty() ? "no night yet" : DayText(data.verdict.night);
  std::string text =
      Plain(fmt::format("# Nightly{}, {}: {}", data.series == "main" ? "" : " " + data.series, day, sentence),
            kNightlyColumns) +
      "\n\n";
  if (!data.jobs.empty()) {
    std::vector<std::vector<std::string>> rows = {
        {"network", "state", "reference", "now", "change", "99 % interval", "p"}};
    for (const NightlyJob* job : data.ByInterest()) rows.push_back(Row(*job));
    text += TextTable(rows, 5) + "\n";
  }
  const auto line = [&](const std::string& what) { text += Plain("- " + what, kNightlyColumns) + "\n"; };
  for (const NightlyJob* job : data.ByInterest()) {
    const JobState state = job->series.verdict.state;
    const bool silent = state == JobState::kFine;
    if (!silent) line(job->job + ": " + job->series.verdict.words);
    if (state == JobState::kSlower && !job->commands.empty())
      line(job->commands.front().first + ": " + job->commands.front().second);
  }
  for (const NightlyJob& job : data.jobs) {
    if (job.replay.nights.empty() || job.replay.verdict.state == JobState::kFine) continue;
    line(fmt::format("{}, replay: {}: {}", job.job, StateText(job.replay), job.replay.verdict.words));
  }
  size_t problems = data.problems.size();
  for (const NightlyJob& job : data.jobs) problems += job.problems.size();
  if (problems > 0) line(fmt::format("{} lines or files could not be read: see the page", problems));
  if (!data.out_path.empty()) line("page: " + data.out_path + "/index.html");
  return text;
}

}  // namespace hone::nightly
