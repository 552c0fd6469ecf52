#include "command/records/records.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/clock.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/log.h"
#include "base/statistics.h"
#include "base/text.h"
#include "command/common/tool.h"
#include "pipeline/ninja_writer.h"
#include "record/foreign_formats.h"
#include "record/foreign_store.h"
#include "record/store.h"
#include "record/suspicious.h"

namespace hone::command {
namespace {

using record::Store;
using record::Trial;

std::string TimeText(const Trial& t) {
  const Outcome& o = t.outcome;
  if (o.state == TrialState::kFailed) return TrialErrorName(o.error);
  return fmt::format("{}{}{}", o.state == TrialState::kPruned ? "> " : "", t.MayBeSlow() ? "~" : "",
                     FormatSeconds(o.median));
}

// Messages of compilers and crashes may have several lines and control characters; a trial gets one line.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if ((c >= 0 && c < 0x20) || c == 0x7F) c = ' ';
  }
  return text;
}

// "64 trials: 40 ok, 20 pruned, 3 compile, 1 wrong".
std::string Summary(const std::vector<Trial>& trials) {
  std::map<std::string, int> failures;
  int ok = 0, pruned = 0;
  for (const Trial& t : trials) {
    if (t.outcome.state == TrialState::kOk) ++ok;
    if (t.outcome.state == TrialState::kPruned) ++pruned;
    if (t.outcome.state == TrialState::kFailed) ++failures[TrialErrorName(t.outcome.error)];
  }
  std::string text =
      fmt::format("{}: {} ok, {} pruned", Counted(static_cast<int64_t>(trials.size()), "trial"), ok, pruned);
  for (const auto& [kind, count] : failures) text += fmt::format(", {} {}", count, kind);
  return text;
}

Status ListOne(const std::string& path, int64_t limit) {
  if (record::IsForeignFile(path)) return ListForeign(path, limit);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::OpenForReading(path));
  HONE_ASSIGN_OR_RETURN(std::vector<Trial> trials, store->Trials());
  PrintOut("{}\n  {}\n  {}\n  {}\n", store->meta().task_id, store->meta().workload, store->meta().target,
           Summary(trials));
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> sessions, store->Sessions());
  for (auto session = sessions.rbegin(); session != sessions.rend(); ++session) {
    const auto closing = record::Closing::FromSettings(session->settings);
    if (!closing) continue;
    PrintOut("  ended: {}\n", closing->ReasonText());
    break;
  }
  // Fastest first; pruned trials follow the fully timed ones, as their time is a lower bound; failures last.
  std::ranges::stable_sort(trials, {},
                           [](const Trial& t) { return std::tuple(t.outcome.state, t.outcome.median, t.ordinal); });
  if (limit > 0 && trials.size() > static_cast<size_t>(limit)) trials.resize(limit);
  PrintOut("  {:>5}  {:>10}  {:>5}  {:<8}  {}\n", "trial", "time", "runs", "proposer", "config");
  for (const Trial& t : trials) {
    const Outcome& o = t.outcome;
    PrintOut("  {:>5}  {:>10}  {:>5}  {:<8}  {}{}\n", t.ordinal, TimeText(t), o.samples.size(), o.proposer,
             o.config.Text(), o.error_text.empty() ? "" : "  (" + OneLine(o.error_text) + ")");
  }
  return Status();
}

Status ShowOne(const std::string& path, int64_t ordinal) {
  if (record::IsForeignFile(path)) return ShowForeign(path, ordinal);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::OpenForReading(path));
  HONE_ASSIGN_OR_RETURN(std::vector<Trial> trials, store->Trials());
  if (ordinal < 0) {
    HONE_ASSIGN_OR_RETURN(std::optional<Trial> best, store->Best(""));
    if (!best) return Status::NotFound(path + ": no correct trial; name one with --trial");
    ordinal = best->ordinal;
  }
  // Ordinals come from the file: they may have gaps or any value.
  const auto found = std::ranges::find(trials, ordinal, &Trial::ordinal);
  if (found == trials.end()) return Status::NotFound("{}: no trial {}; it has {}", path, ordinal, trials.size());
  const Trial& t = *found;
  const Outcome& o = t.outcome;
  PrintOut("task      {}\nworkload  {}\ntarget    {}\ntrial     {} (proposed by {})\n", store->meta().task_id,
           store->meta().workload, store->meta().target, t.ordinal, o.proposer);
  PrintOut("state     {}{}\n", TrialStateName(o.state),
           o.error_text.empty() ? "" : fmt::format(": {}: {}", TrialErrorName(o.error), o.error_text));
  if (!o.samples.empty()) {
    const std::vector<double> last = t.LastRound();
    const Interval interval = MedianInterval(last, 0.95);
    PrintOut("time      {} (median; 95 % interval of it {} to {}; {}{})\n", FormatSeconds(o.median),
             FormatSeconds(interval.low), FormatSeconds(interval.high),
             Counted(static_cast<int64_t>(last.size()), "sample"),
             t.rounds.back() > 0 ? fmt::format(", as a finalist; {} in all", o.samples.size()) : "");
  } else if (o.state != TrialState::kFailed) {
    PrintOut("time      {} (that of an earlier trial with the same machine code)\n", FormatSeconds(o.median));
  }
  if (o.disturbed > 0 || o.retaken > 0) {
    PrintOut("load      other programs used the machine: {} repeated, {} of the last samples disturbed\n",
             Counted(o.retaken, "run"), o.disturbed);
  }
  if (Unsteady(t.LastRound())) PrintOut("spread    the runs disagree by more than 3 %: the time may be too long\n");
  PrintOut("cost      compiled in {}, measured in {}\n", FormatSeconds(o.compile_seconds),
           FormatSeconds(o.measure_seconds));
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> sessions, store->Sessions());
  for (const record::Session& s : sessions) {
    if (s.id != t.session) continue;
    PrintOut("session   {}: {} on {} ({}), seed {}, fingerprint {}\n          tool {}, codegen {}, protocol {}\n", s.id,
             FormatIso8601(s.started), s.host, s.device, s.seed, s.fingerprint, s.tool_version, s.codegen_version,
             s.protocol_version);
  }
  PrintOut("artifact  {}\nconfig    {}\n          {}\nsteps\n", o.artifact_digest, o.config.Text(), o.config.ToJson());
  for (const std::string& line : Split(o.steps, '\n')) {
    if (!line.empty()) PrintOut("  " + line + "\n");
  }
  return Status();
}

Result<std::string> ExportOne(const std::string& path, const std::string& format) {
  if (record::IsForeignFile(path)) return ExportForeign(path, format);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::OpenForReading(path));
  if (format == "csv") return record::ExportCsv(*store);
  if (format == "autotvm") return record::ExportAutoTvm(*store);
  if (format == "t4") return record::ExportT4(*store);
  if (format == "ansor") return Status::Invalid(path + ": Hone's own trials have no form in Ansor's log; see --format");
  return record::ExportJsonLines(*store);
}

Status ExportAll(const RecordsOptions& options) {
  const std::vector<std::string> known = {"jsonl", "csv", "autotvm", "ansor", "t4"};
  if (std::ranges::count(known, options.format) == 0) {
    return Status::Invalid("--format: `{}` is not known; known: {}", options.format, Join(known, ", "));
  }
  if (options.files.empty())
    return Status::Invalid("export takes record files or folders; see hone-records export --help");
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> files, ExpandRecordFiles(options.files));
  if (options.format == "t4" && files.size() != 1) {
    return Status::Invalid("--format: t4 is one document a file; name one record file");
  }
  std::string all;
  for (const std::string& path : files) {
    HONE_ASSIGN_OR_RETURN(std::string text, ExportOne(path, options.format));
    // One heading for all files.
    if (options.format == "csv" && !all.empty()) text.erase(0, text.find('\n') + 1);
    all += text;
  }
  if (!options.out.empty()) return WriteFileIfChanged(options.out, all).status();
  return WriteOut(all);
}

std::string SuspicionText(const std::string& path, const record::Suspicion& s) {
  const std::string how = s.tried > 0
                              ? fmt::format("{} of the {} that a session tried failed alike", s.failures, s.tried)
                              : fmt::format("{} failures in a row", s.failures);
  const char* kind = TrialErrorName(s.error);
  return fmt::format(
      "trials {} to {}: {}: {}: {}; if this machine was at fault, remove them: hone-records forget {} --error {} "
      "--since {}",
      s.first, s.last, how, kind, CutMiddle(s.text, 200), pipeline::ShellQuote(path), kind, FormatIso8601(s.since));
}

// Sets `warnings` for a file without problems.
Result<std::vector<std::string>> FindProblems(const std::string& path, std::vector<std::string>* warnings) {
  if (record::IsForeignFile(path)) return VerifyForeign(path);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::OpenForReading(path));
  HONE_ASSIGN_OR_RETURN(std::vector<std::string> findings, store->Verify());
  if (!findings.empty()) return findings;
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Suspicion> suspicious, record::FindSuspicious(*store));
  for (const record::Suspicion& s : suspicious) warnings->push_back(SuspicionText(path, s));
  return findings;
}

Result<int> VerifyOne(const std::string& path) {
  std::vector<std::string> warnings;
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> findings, FindProblems(path, &warnings));
  for (const std::string& warning : warnings) PrintOut(path + ": warning: " + Printable(warning) + "\n");
  for (const std::string& finding : findings) PrintOut(path + ": " + Printable(finding) + "\n");
  if (findings.empty()) PrintOut(path + ": ok\n");
  return findings.empty() ? kDone : kFailed;
}

}  // namespace

Result<std::vector<std::string>> ExpandRecordFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!IsDirectory(path)) {
      files.push_back(path);
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDir(path));
    const size_t before = files.size();
    for (const std::string& name : names) {
      if (EndsWith(name, ".db")) files.push_back(JoinPath(path, name));
    }
    if (files.size() == before) return Status::NotFound(path + ": no record file (*.db) in this folder");
  }
  return files;
}

int ForEachRecordFile(const std::vector<std::string>& paths, const std::function<int(const std::string& path)>& run) {
  const Result<std::vector<std::string>> files = ExpandRecordFiles(paths);
  if (!files.ok()) return ExitCodeOf(files.status());
  int code = kDone;
  for (size_t i = 0; i < files->size() && code != kInterrupted; ++i) code = std::max(code, run((*files)[i]));
  return code;
}

int ListRecords(const RecordsOptions& options) {
  return ForEachRecordFile(options.files,
                           [&](const std::string& path) { return ExitCodeOf(ListOne(path, options.limit)); });
}

int ShowRecord(const RecordsOptions& options) {
  if (options.files.size() != 1) return ExitCodeOf(Status::Invalid("show takes one record file"));
  return ExitCodeOf(ShowOne(options.files[0], options.trial));
}

int ExportRecords(const RecordsOptions& options) { return ExitCodeOf(ExportAll(options)); }

int VerifyRecordFiles(const RecordsOptions& options) {
  return ForEachRecordFile(options.files, [](const std::string& path) { return ExitCodeOf(VerifyOne(path)); });
}

}  // namespace hone::command
