#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include "base/counted.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "command/records/records.h"
#include "record/foreign_formats.h"
#include "record/foreign_store.h"

namespace hone::command {
namespace {

using record::ForeignRecord;
using record::ForeignStore;
using record::ForeignTask;

constexpr int64_t kMaxReports = 100;

// The formats, with what they are lists of.
struct ForeignFormat {
  const char *name, *unit;
  Result<record::ImportCounts> (*import)(const std::string& path, const std::string& db,
                                         const std::function<void(int64_t, const std::string&)>& report);
};
constexpr ForeignFormat kFormats[] = {{"autotvm", "line", record::ImportAutoTvm},
                                      {"ansor", "line", record::ImportAnsor},
                                      {"t4", "result", record::ImportT4}};

const ForeignFormat* FindFormat(const std::string& name) {
  const auto* found = std::ranges::find(kFormats, name, &ForeignFormat::name);
  return found == std::end(kFormats) ? nullptr : found;
}

std::string SummaryText(const record::ImportCounts& c, const ForeignFormat& format) {
  std::string text = fmt::format("{}: {} added ({} ok, {} failed)", Counted(c.lines, format.unit),
                                 Counted(c.added, "record"), FormatCount(c.ok), FormatCount(c.failed));
  if (c.known > 0) text += fmt::format(", {} there already", FormatCount(c.known));
  if (c.comments > 0) text += fmt::format(", {}", Counted(c.comments, "blank or comment line"));
  if (c.skipped > 0) text += fmt::format(", {} skipped", FormatCount(c.skipped));
  if (c.torn) text += ", the last one cut off";
  if (c.added > 0 && format.import == record::ImportAutoTvm) {
    text += fmt::format(
        "\n  entities: {} at their index, {} at another, {} outside of the space, {} of a template "
        "without a space here",
        FormatCount(c.fits), FormatCount(c.moved), FormatCount(c.outside), FormatCount(c.no_space));
  }
  return text + "\n";
}

Result<int> Import(const ImportOptions& options) {
  const ForeignFormat* format = FindFormat(options.format);
  if (format == nullptr) {
    return Status::Invalid("--format: `" + options.format + "` cannot be imported; known: autotvm, ansor, t4");
  }
  int64_t reports = 0;
  const auto report = [&](int64_t place, const std::string& what) {
    if (++reports > kMaxReports) return;
    LogWarning("{}:{}{}: {}", options.file, options.format == "t4" ? " result " : "", place, what);
  };
  const Result<record::ImportCounts> counts = format->import(options.file, options.db, report);
  if (reports > kMaxReports) LogWarning("{}: and {} more", options.file, reports - kMaxReports);
  if (!counts.ok()) return counts.status();
  PrintOut(options.file + ": " + SummaryText(*counts, *format));
  return counts->skipped > 0 ? kFailed : kDone;
}

using TaskKey = std::tuple<std::string, std::string, std::string, std::string>;

Result<std::map<TaskKey, ForeignTask>> BestTasks(const std::string& path) {
  if (!record::IsForeignFile(path)) {
    return Status::Invalid(path + ": no file of foreign records; compare takes what `hone-records import` writes");
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<ForeignStore> store, ForeignStore::OpenForReading(path));
  HONE_ASSIGN_OR_RETURN(const std::vector<ForeignTask> tasks, store->Tasks());
  std::map<TaskKey, ForeignTask> best;
  for (const ForeignTask& t : tasks) {
    if (t.ok > 0) best[{t.task, t.target, t.workload, t.format}] = t;
  }
  return best;
}

Status Compare(const std::string& a, const std::string& b) {
  HONE_ASSIGN_OR_RETURN(const auto in_a, BestTasks(a));
  HONE_ASSIGN_OR_RETURN(const auto in_b, BestTasks(b));
  double logs = 0;
  size_t both = 0;
  for (const auto& [key, task] : in_a) {
    const auto other = in_b.find(key);
    if (other == in_b.end()) continue;
    if (both++ == 0) PrintOut("{:>8}  {:>10}  {:>10}  {}\n", "b / a", "a", "b", "task");
    const double ratio = other->second.best_seconds / task.best_seconds;
    logs += std::log(ratio);
    PrintOut("{:>8.3f}  {:>10}  {:>10}  {}  {}  {}\n", ratio, FormatSeconds(task.best_seconds),
             FormatSeconds(other->second.best_seconds), Printable(task.task), Printable(task.target),
             Printable(task.workload));
  }
  if (both > 0) PrintOut("{:>8.3f}  geometric mean\n", std::exp(logs / static_cast<double>(both)));
  PrintOut("{} in both, {} in a alone, {} in b alone\n", Counted(static_cast<int64_t>(both), "task"),
           in_a.size() - both, in_b.size() - both);
  return Status();
}

}  // namespace

int ImportRecords(const ImportOptions& options) { return ExitCodeOf(Import(options)); }

int CompareRecords(const std::string& a, const std::string& b) { return ExitCodeOf(Compare(a, b)); }

Status ListForeign(const std::string& path, int64_t limit) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<ForeignStore> store, ForeignStore::OpenForReading(path));
  HONE_ASSIGN_OR_RETURN(const std::vector<ForeignTask> tasks, store->Tasks());
  int64_t ok = 0, failed = 0;
  for (const ForeignTask& t : tasks) ok += t.ok, failed += t.failed;
  PrintOut("{}\n  foreign records: {}, {} ok, {} failed\n  {:>8}  {:>8}  {:>10}  {:>12}  {}\n", path,
           Counted(static_cast<int64_t>(tasks.size()), "task"), ok, failed, "ok", "failed", "best", "index", "task");
  int64_t shown = 0;
  for (const ForeignTask& t : tasks) {
    if (limit > 0 && shown++ == limit) {
      PrintOut("  and {} more tasks (--limit 0 lists all)\n", tasks.size() - static_cast<size_t>(limit));
      break;
    }
    PrintOut("  {:>8}  {:>8}  {:>10}  {:>12}  {}  {}  {}\n", t.ok, t.failed,
             t.ok > 0 ? FormatSeconds(t.best_seconds) : "-", t.best_index >= 0 ? std::to_string(t.best_index) : "-",
             Printable(t.task), Printable(t.target), Printable(t.workload));
  }
  return Status();
}

Status ShowForeign(const std::string& path, int64_t number) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<ForeignStore> store, ForeignStore::OpenForReading(path));
  if (number < 0) {
    HONE_ASSIGN_OR_RETURN(const std::vector<ForeignTask> tasks, store->Tasks());
    if (tasks.size() != 1 || tasks[0].ok == 0) {
      return Status::NotFound("{}: {} tasks; name a record by its number with --trial", path, tasks.size());
    }
    number = tasks[0].best_number;
  }
  bool found = false;
  HONE_RETURN_IF_ERROR(store->ForEach("", [&](int64_t n, const ForeignRecord& r) {
    if (n != number) return true;
    found = true;
    PrintOut("task      {}\nworkload  {}\ntarget    {}\nrecord    {} ({})\n", Printable(r.task), Printable(r.workload),
             Printable(r.target), n, r.format);
    PrintOut("state     {}\n", r.ok ? "ok" : "failed: " + r.error);
    if (r.ok) PrintOut("time      {} (mean)\n", FormatSeconds(r.seconds));
    const std::string fit = record::FitName(r.fit);
    if (r.format == "ansor") {
      PrintOut("steps\n");
      for (const record::AnsorStep& step : record::AnsorSteps(r)) PrintOut("  {}\n", Printable(step.words));
    } else {
      PrintOut("index     {}, at its place in the space here: {}\n", r.index, fit.empty() ? "no such space" : fit);
    }
    PrintOut("{}\n", r.text);
    return false;
  }));
  return found ? Status() : Status::NotFound("{}: no record {}", path, number);
}

Result<std::string> ExportForeign(const std::string& path, const std::string& format) {
  if (FindFormat(format) == nullptr) {
    return Status::Invalid(path + ": foreign records; they are exported with --format autotvm, ansor or t4");
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<ForeignStore> store, ForeignStore::OpenForReading(path));
  std::string text;
  std::map<std::string, int64_t> left_out;  // count by format
  HONE_RETURN_IF_ERROR(store->ForEach("", [&](int64_t, const ForeignRecord& r) {
    if (r.format != format) {
      ++left_out[r.format];
    } else if (format != "t4") {
      text += r.text;
      text += '\n';
    }
    return true;
  }));
  if (format == "t4") {
    Result<std::string> document = record::ExportT4(*store);
    if (!document.ok()) return Status(document.status().kind(), path + ": " + document.status().message());
    text = std::move(*document);
  }
  for (const auto& [other, count] : left_out) {
    LogWarning("{}: {} left out, of another format: --format {}", path, Counted(count, "record"), other);
  }
  return text;
}

Result<std::vector<std::string>> VerifyForeign(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<ForeignStore> store, ForeignStore::OpenForReading(path));
  return store->Verify();
}

}  // namespace hone::command
