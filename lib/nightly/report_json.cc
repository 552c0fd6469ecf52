#include "base/json.h"
#include "nightly/report_outputs.h"
#include "report/json_text.h"

namespace hone::nightly {
namespace {

using report::IslandText;
using report::Rounded;


constexpr int kDigits = 5;  // of a time: more than a measurement has
constexpr int kFewDigits = 4;

Json TimesJson(const std::vector<double>& seconds, int digits = kDigits) {
  Json list = Json::array();
  for (const double s : seconds) list.push_back(Rounded(s, digits));
  return list;
}

// `before`: the same of the night before; a digest is told where it changes.
Json SubjectJson(const Subject& subject, const Subject* before, bool spread) {
  Json json = {{"processes", TimesJson(subject.processes)}};
  if (before == nullptr || before->digest != subject.digest) json["digest"] = subject.digest;
  if (spread && subject.p10 > 0) {
    for (const auto& [name, value] : {std::pair{"min", subject.min},
                                      {"p10", subject.p10},
                                      {"median", subject.median},
                                      {"p90", subject.p90},
                                      {"p99", subject.p99}}) {
      json[name] = Rounded(value, kFewDigits);
    }
  }
  return json;
}

// Without `processes` what came of them alone. `before`: the night before, null for the first; what is as it was then
// (host, tools, digests) is left out.
Json NightJson(const Night& night, const Night* before, double trend, int epoch, bool processes) {
  const Comparison& c = night.comparison;
  Json json = {{"night", night.night}, {"recorded", night.recorded}, {"epoch", epoch}};
  if (before == nullptr || before->host != night.host) json["host"] = night.host;
  if (before == nullptr || before->tools != night.tools) json["tools"] = night.tools;
  if (!night.failure.empty()) {
    json["failure"] = night.failure;
    return json;
  }
  json.update({{"ratio", Rounded(c.ratio, 6)},
               {"low", Rounded(c.low, 6)},
               {"high", Rounded(c.high, 6)},
               {"p", Rounded(c.p, 4)},
               {"threshold", Rounded(c.threshold, 4)},
               {"change", ChangeName(c.change)},
               {"trend", Rounded(trend, 6)}});
  if (!night.environment.empty()) json["environment"] = night.environment;
  if (!night.no_canary.empty()) json["no_canary"] = night.no_canary;
  if (!processes) return json;
  json["library"] = SubjectJson(night.library, before != nullptr ? &before->library : nullptr, true);
  json["reference"] = SubjectJson(night.reference, before != nullptr ? &before->reference : nullptr, false);
  // Where nothing counts, why not is what the figures say.
  if (c.change != Change::kNone || night.repeat) json["why"] = c.why;
  if (night.canary)
    json["canary"] =
        SubjectJson(*night.canary, before != nullptr && before->canary ? &*before->canary : nullptr, false);
  if (night.repeat) {
    json["repeat"] = {{"library", TimesJson(night.repeat->library)},
                      {"reference", TimesJson(night.repeat->reference)},
                      {"change", ChangeName(night.repeat->change)}};
  }
  return json;
}

// `short_nights`: the processes of the last night alone; those of others are in the history's file.
Json SeriesJson(const NightSeries& series, bool short_nights) {
  const Trend& trend = series.trend;
  Json nights = Json::array(), changes = Json::array(), kernels = Json::array(), machines = Json::array();
  for (size_t i = 0; i < series.nights.size(); ++i) {
    nights.push_back(NightJson(
        series.nights[i], i > 0 ? &series.nights[i - 1] : nullptr, i < trend.values.size() ? trend.values[i] : 0,
        i < trend.epochs.size() ? trend.epochs[i] : 0, !short_nights || i + 1 == series.nights.size()));
    // Long, and the same for weeks: said where it changes.
    if (i == 0 || series.nights[i].fingerprint != series.nights[i - 1].fingerprint)
      machines.push_back({{"from", i}, {"fingerprint", series.nights[i].fingerprint}});
  }
  for (const ChangePoint& change : trend.changes) {
    changes.push_back({{"night", change.index},
                       {"p", Rounded(change.p, 4)},
                       {"before", Rounded(change.before, 6)},
                       {"after", Rounded(change.after, 6)}});
  }
  for (const KernelHistory& kernel : KernelsOf(series)) {
    kernels.push_back({{"node", kernel.node},
                       {"seconds", Rounded(kernel.now, kDigits)},
                       {"reference", Rounded(kernel.reference, kDigits)},
                       {"nights", TimesJson(kernel.seconds, kFewDigits)}});
  }
  return {{"state", JobStateName(series.verdict.state)},
          {"words", series.verdict.words},
          {"machines", std::move(machines)},
          {"nights", std::move(nights)},
          {"changes", std::move(changes)},
          {"kernels", std::move(kernels)}};
}

Json JobJson(const NightlyJob& job) {
  Json accepted = Json::array(), records = Json::array(), commands = Json::array();
  for (const Acceptance& a : job.accepted) {
    accepted.push_back(
        {{"recorded", a.recorded}, {"by", a.by}, {"reason", a.reason}, {"digest", a.digest}, {"before", a.before}});
  }
  for (const ChangedRecord& r : job.records) {
    records.push_back({{"task", r.task},
                       {"workload", r.workload},
                       {"was", r.was},
                       {"now", r.now},
                       {"was_seconds", Rounded(r.was_seconds, kDigits)},
                       {"now_seconds", Rounded(r.now_seconds, kDigits)}});
  }
  for (const auto& [what, command] : job.commands) commands.push_back({{"what", what}, {"command", command}});
  Json json = {{"job", job.job},
               {"series", SeriesJson(job.series, false)},
               {"accepted", std::move(accepted)},
               {"records", std::move(records)},
               {"problems", job.problems},
               {"commands", std::move(commands)}};
  if (!job.replay.nights.empty()) json["replay"] = SeriesJson(job.replay, true);
  return json;
}

}  // namespace

std::string NightlyJson(const NightlyData& data) {
  Json jobs = Json::array(), counts = Json::object();
  for (const NightlyJob& job : data.jobs) jobs.push_back(JobJson(job));
  for (const JobState state : {JobState::kSlower, JobState::kFaster, JobState::kFine, JobState::kEnvironment,
                               JobState::kFailed, JobState::kMissing}) {
    counts[JobStateName(state)] = data.verdict.Count(state);
  }
  const Json json = {{"version", kNightlyVersion},  {"series", data.series},
                     {"night", data.verdict.night}, {"exit_code", data.verdict.ExitCode()},
                     {"counts", std::move(counts)}, {"older_nights", data.older},
                     {"problems", data.problems},   {"jobs", std::move(jobs)}};
  return IslandText(json);
}

}  // namespace hone::nightly
