#include "command/report/report.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "command/common/network_rounds.h"
#include "pipeline/best_file.h"
#include "pipeline/ninja_writer.h"
#include "pipeline/task_list.h"
#include "record/store.h"
#include "report/outputs.h"

namespace hone::command {
namespace {

using report::ReportData;
using report::TaskFact;

class ReportCollector {
 public:
  explicit ReportCollector(const ReportOptions& options) : options_(options) {}

  Result<ReportData> Run() {
    HONE_ASSIGN_OR_RETURN(report::BenchFile bench, report::ReadBenchFile(options_.bench));
    HONE_ASSIGN_OR_RETURN(const pipeline::TaskList list, pipeline::ReadTaskList(options_.tasks));
    HONE_ASSIGN_OR_RETURN(const pipeline::BestFile best, pipeline::ReadBestFile(options_.best));
    HONE_RETURN_IF_ERROR(CheckSame(list, options_.best, best.network, best.target));
    HONE_RETURN_IF_ERROR(CheckSame(list, options_.bench, bench.network, bench.target));
    ReportData data{.job = BaseName(options_.bench)};
    if (EndsWith(data.job, ".json")) data.job.resize(data.job.size() - 5);
    data.network = list.network;
    data.target = list.target;
    data.target_name = list.target_name;
    data.bench_path = options_.bench;
    data.tasks_path = options_.tasks;
    data.best_path = options_.best;
    data.records_path = options_.records;
    data.out_path = options_.out;
    data.folder = AbsolutePath(".");
    HONE_ASSIGN_OR_RETURN(const std::string program, CurrentExecutable());
    data.explain = fmt::format("{} explain {}", pipeline::ShellQuote(JoinPath(DirName(program), "hone-records")),
                               pipeline::ShellQuote(AbsolutePath(options_.best)));
    data.bench = std::move(bench);
    for (const pipeline::TaskEntry& entry : list.tasks) {
      const pipeline::BestEntry* choice = best.Find(entry.id);
      if (choice == nullptr) {
        return Status::Invalid("{}: nothing about task {} of {}; run hone-pick-best again", options_.best, entry.id,
                               options_.tasks);
      }
      HONE_ASSIGN_OR_RETURN(TaskFact task, Task(entry, *choice));
      const std::vector<report::BenchLayer>& layers = data.tuned().layers;
      task.uses =
          layers.empty() ? entry.weight : std::ranges::count(layers, entry.workload, &report::BenchLayer::workload);
      data.tasks.push_back(std::move(task));
    }
    data.partition.built = static_cast<int64_t>(best.alternatives.size());
    if (const auto& p = best.partition) {
      data.partition = {p->taken, data.partition.built, p->alone_seconds, p->chosen_seconds, p->exact};
    }
    if (best.in_network) {
      for (const pipeline::ComparedChoice& c : best.in_network->compared) {
        data.choices.push_back({c.what, c.with_seconds, c.without_seconds, c.kept});
      }
    }
    HONE_ASSIGN_OR_RETURN(auto rounds, FindRounds(".", data.job, list));
    if (rounds) data.rounds = std::move(rounds->history);
    return data;
  }

 private:
  Status CheckSame(const pipeline::TaskList& list, const std::string& path, const std::string& network,
                   const std::string& target) const {
    if (network == list.network && target == list.target) return Status();
    return Status::Invalid("{}: it is about {} on `{}`, but {} about {} on `{}`", path, network, target, options_.tasks,
                           list.network, list.target);
  }

  std::string TaskFile(const TaskFact& task) const {
    return pipeline::ShellQuote(JoinPath(DirName(options_.tasks), task.id + ".task.json"));
  }
  // Empty for a point whose index hone-tune does not take.
  std::string RepeatCommand(const TaskFact& task, const Config& config) const {
    if (config.index > UINT64_MAX) return "";
    return fmt::format("hone-tune --task {} --trial {}", TaskFile(task), config.IndexText());
  }

  Result<TaskFact> Task(const pipeline::TaskEntry& entry, const pipeline::BestEntry& choice) const {
    TaskFact task{.id = entry.id,
                  .workload = entry.workload,
                  .weight = entry.weight,
                  .flop = entry.flop,
                  .source = pipeline::BestSourceName(choice.source)};
    if (choice.config) {
      task.from = choice.from;
      task.config = choice.config->Text();
      task.algorithm = report::AlgorithmText(entry.workload, *choice.config);
      task.seconds = choice.median;
      task.trial = choice.trial;
      task.repeat = RepeatCommand(task, *choice.config);
      task.host = choice.host;
      task.recorded = choice.recorded;
    }
    const std::string db = JoinPath(options_.records, entry.id + ".db");
    if (!Exists(db)) {
      if (choice.source != pipeline::BestSource::kTuned) return task;
      return Status::NotFound(
          "{}: no such record file, but {} uses it; run `ninja clean-stamps` in the work folder, then Ninja again", db,
          options_.best);
    }
    HONE_RETURN_IF_ERROR(AddRecords(db, choice, &task));
    return task;
  }

  Status AddRecords(const std::string& db, const pipeline::BestEntry& choice, TaskFact* task) const {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<record::Store> store, record::Store::OpenForReading(db));
    HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> sessions, store->Sessions());
    HONE_ASSIGN_OR_RETURN(const std::vector<record::Trial> trials, store->Trials());
    const bool own = choice.source == pipeline::BestSource::kTuned;
    if (own) task->fingerprint = choice.fingerprint;
    if (!own && !sessions.empty()) task->fingerprint = sessions.back().fingerprint;
    std::set<int64_t> ours;  // the sessions on that machine
    for (const record::Session& session : sessions) {
      if (session.fingerprint != task->fingerprint) continue;
      ours.insert(session.id);
      if (session.ended > 0) task->wall_seconds += std::max(0.0, session.ended - session.started);
      if (session.ended == 0) task->wall_seconds += session.tuning_seconds;
      if (const auto closing = record::Closing::FromSettings(session.settings)) {
        task->stopped = record::StopReasonName(closing->reason);
      }
    }
    std::map<std::string, report::FailureFact> failures;
    for (const record::Trial& trial : trials) {
      if (!ours.count(trial.session)) {
        ++task->foreign_trials;
        continue;
      }
      const Outcome& o = trial.outcome;
      task->trials.push_back({trial.ordinal, o.state, o.error, o.state == TrialState::kFailed ? 0 : o.median,
                              o.measure_seconds, o.config, o.disturbed > 0, o.retaken});
      task->compile_seconds += o.compile_seconds;
      task->measure_seconds += o.measure_seconds;
      if (o.state == TrialState::kFailed) AddFailure(db, *task, trial, &failures[TrialErrorName(o.error)]);
    }
    for (auto& [kind, failure] : failures) task->failures.push_back(std::move(failure));
    std::ranges::stable_sort(task->failures, std::ranges::greater(), &report::FailureFact::count);
    return Status();
  }

  void AddFailure(const std::string& db, const TaskFact& task, const record::Trial& trial,
                  report::FailureFact* failure) const {
    if (failure->count++ > 0) return;
    const Outcome& o = trial.outcome;
    failure->kind = TrialErrorName(o.error);
    failure->message = o.error_text;
    failure->trial = trial.ordinal;
    failure->explain = fmt::format("hone-tune --task {} --db {} --explain {}", TaskFile(task), pipeline::ShellQuote(db),
                                   trial.ordinal);
    failure->repeat = RepeatCommand(task, o.config);
  }

  const ReportOptions& options_;
};

Status Write(const ReportOptions& options, bool* verified) {
  HONE_ASSIGN_OR_RETURN(const ReportData data, ReportCollector(options).Run());
  *verified = data.bench.verification.ok;
  HONE_RETURN_IF_ERROR(MakeDirs(options.out));
  // The page last, as Ninja checks it first.
  const std::pair<const char*, std::string> files[] = {{"report.md", report::MarkdownText(data)},
                                                       {"report.json", report::JsonText(data)},
                                                       {"junit.xml", report::JunitText(data)},
                                                       {"index.html", report::HtmlText(data)}};
  for (const auto& [name, text] : files) {
    HONE_RETURN_IF_ERROR(WriteFileIfChanged(JoinPath(options.out, name), text).status());
  }
  return Status();
}

}  // namespace

int RunReport(const ReportOptions& options) {
  bool verified = false;
  const Status status = Write(options, &verified);
  if (!status.ok()) return ExitCodeOf(status);
  if (verified) return kDone;
  LogError("{}: the results of the tuned library are wrong; see {}", options.bench, JoinPath(options.out, "report.md"));
  return kFailed;
}

}  // namespace hone::command
