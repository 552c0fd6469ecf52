#include "command/nightly/nightly_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/file.h"
#include "nightly/night_file.h"
#include "nightly/report_outputs.h"
#include "pipeline/best_file.h"
#include "pipeline/task_list.h"

namespace hone::command {
namespace {

using nightly::ChangedRecord;
using nightly::NightlyData;
using nightly::NightlyJob;

class NightlyCollector {
 public:
  explicit NightlyCollector(const NightlyReportOptions& options) : options_(options) {}

  NightlyData Run() {
    NightlyData data;
    data.series = options_.series;
    data.out_path = options_.out;
    const Result<std::string> night = nightly::LastNight(nightly::SeriesDir(options_.nights, options_.series));
    if (night.ok()) data.night = *night;
    if (!night.ok()) data.problems.push_back(night.status().message());
    const Result<std::vector<std::string>> jobs = nightly::AcceptedJobs(options_.accepted);
    if (!jobs.ok()) data.problems.push_back(jobs.status().message());
    if (jobs.ok()) {
      for (const std::string& job : *jobs) data.jobs.push_back(Job(job));
    }
    return data;
  }

 private:
  NightlyJob Job(const std::string& name) const {
    NightlyJob job;
    job.job = name;
    const bool main = options_.series == "main";
    Read(name, options_.series, &job.series, &job);
    if (main) Read(name, "replay", &job.replay, &job);
    Result<std::vector<nightly::Acceptance>> accepted = nightly::ReadAcceptances(options_.accepted, name);
    if (accepted.ok()) {
      job.accepted = std::move(*accepted);
      if (main && !job.accepted.empty()) Records(job.accepted.back(), &job);
    } else {
      job.problems.push_back(accepted.status().message());
    }
    if (!pipeline::IsPlainName(name)) return job;
    if (Exists(JoinPath(DirName(options_.out), name + "/index.html"))) job.page = "../" + name + "/index.html";
    job.commands = {{"measure it again", "ninja " + nightly::TonightPath("nights", options_.series, name)},
                    {"profile and verify it", fmt::format("ninja bench/{}.json", name)},
                    {"accept it as it is", fmt::format("hone-report accept --reason '..' {}", name)}};
    return job;
  }

  static void Add(const std::vector<std::string>& damaged, NightlyJob* job) {
    for (const std::string& line : damaged) job->problems.push_back(line + "; skipping this night");
  }

  void Read(const std::string& name, const std::string& series, nightly::NightSeries* into, NightlyJob* job) const {
    const std::string path = nightly::HistoryPath(options_.nights, series, name);
    Result<nightly::History> history = nightly::ReadHistory(path);
    if (!history.ok()) {
      job->problems.push_back(history.status().message());
      return;
    }
    into->nights = std::move(history->nights);
    Add(history->damaged, job);
    if (history->torn > 0) job->problems.push_back(path + ": the last line was cut off and is left out");
  }

  // The choices of the reference beside those of today. A reference with unknown choices has no differences.
  void Records(const nightly::Acceptance& reference, NightlyJob* job) const {
    const std::string was_path =
        JoinPath(nightly::AcceptedDir(options_.accepted, job->job, reference.digest), nightly::kChoiceFile);
    const std::string now_path = JoinPath(options_.best, job->job + ".choice.json");
    if (!Exists(was_path) || !Exists(now_path)) return;
    const Result<pipeline::BestFile> was = pipeline::ReadBestFile(was_path), now = pipeline::ReadBestFile(now_path);
    for (const auto* file : {&was, &now}) {
      if (!file->ok()) job->problems.push_back(file->status().message());
    }
    if (!was.ok() || !now.ok()) return;
    // Choices have no times; the file beside them has those of today's finalists.
    std::optional<pipeline::BestFile> figures;
    const std::string figures_path = JoinPath(options_.best, job->job + ".json");
    if (Exists(figures_path)) {
      Result<pipeline::BestFile> read = pipeline::ReadBestFile(figures_path);
      if (read.ok()) figures = std::move(*read);
    }
    const auto add = [&](const std::string& id, const std::string& workload, const pipeline::BestEntry* before,
                         const pipeline::BestEntry* after) {
      const Config* old = before != nullptr && before->config ? &*before->config : nullptr;
      const Config* today = after != nullptr && after->config ? &*after->config : nullptr;
      if (old == nullptr && today == nullptr) return;
      if (old != nullptr && today != nullptr && old->ValueDigest() == today->ValueDigest()) return;
      const pipeline::BestEntry* entry = figures ? figures->Find(id) : nullptr;
      job->records.push_back({id, workload, old != nullptr ? old->Text() : "", today != nullptr ? today->Text() : "",
                              Seconds(entry, old), Seconds(entry, today)});
    };
    for (const pipeline::BestEntry& entry : was->tasks) add(entry.id, entry.workload, &entry, now->Find(entry.id));
    for (const pipeline::BestEntry& entry : now->tasks) {
      if (was->Find(entry.id) == nullptr) add(entry.id, entry.workload, nullptr, &entry);
    }
  }

  // Measured alone; 0 if that configuration is not a finalist.
  static double Seconds(const pipeline::BestEntry* entry, const Config* config) {
    if (entry == nullptr || config == nullptr) return 0;
    if (entry->config && entry->config->ValueDigest() == config->ValueDigest()) return entry->median;
    for (const pipeline::Finalist& finalist : entry->finalists) {
      if (finalist.config.ValueDigest() == config->ValueDigest()) return finalist.median;
    }
    return 0;
  }

  const NightlyReportOptions& options_;
};

}  // namespace

NightlyData CollectNights(const NightlyReportOptions& options) { return NightlyCollector(options).Run(); }

Status WriteNightlyReport(const NightlyReportOptions& options) {
  NightlyData data = CollectNights(options);
  nightly::Conclude(&data);
  HONE_RETURN_IF_ERROR(MakeDirs(options.out));
  const std::pair<const char*, std::string> files[] = {{"report.md", nightly::NightlyMarkdown(data)},
                                                       {"report.json", nightly::NightlyJson(data)},
                                                       {"junit.xml", nightly::NightlyJunit(data)},
                                                       {"index.html", nightly::NightlyHtml(data)}};
  for (const auto& [name, text] : files) {
    const Result<bool> written = WriteFileIfChanged(JoinPath(options.out, name), text);
    if (!written.ok()) return written.status();
  }
  return Status();
}

}  // namespace hone::command
