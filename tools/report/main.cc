// hone-report: writes report.md, report.json, junit.xml and index.html about a tuned network, index.html and junit.xml
// about a nightly run; accepts the references of nightly runs.
#include "base/flags.h"
#include "command/report/report.h"

int main(int argc, char** argv) {
  hone::command::ReportOptions options;
  hone::command::VerdictOptions night;
  hone::command::AcceptOptions accept;
  hone::Flags flags("hone-report", "Reports on a tuned network or a nightly run.");
  flags.Add("--bench", &options.bench, "result of hone-bench (bench/NET.TARGET.json)");
  flags.Add("--tasks", &options.tasks, "task list of the network (tasks/NET.TARGET.tasks.json)");
  flags.Add("--best", &options.best, "choices of hone-pick-best (best/NET.TARGET.json)");
  flags.Add("--records", &options.records, "folder of the record files (TASKID.db)");
  flags.Add("--out", &options.out, "folder for the four files; an unchanged one is not touched");

  hone::Flags& nightly =
      flags.AddCommand("nightly", "report on the last nightly run; exit code 0 fine, 1 slower, 3 nothing usable");
  nightly.Add("--nights", &night.folders.nights, "folder of the histories").ShowDefault();
  nightly.Add("--accepted", &night.folders.accepted, "folder of the references").ShowDefault();
  nightly.Add("--series", &night.folders.series, "main or replay").OneOf({"main", "replay"}).ShowDefault();
  nightly.Add("--close", &night.close, "end this run: the next measurement starts another");
  nightly.Add("--out", &night.folders.out, "folder for the page; without it only the verdict is printed");

  hone::Flags& take = flags.AddCommand("accept", "accept a job's library as the reference of nightly runs");
  take.Add("jobs", &accept.jobs, "jobs, NET.TARGET each");
  take.Add("--reason", &accept.reason, "reason, kept in the history").Required();
  take.Add("--work", &accept.work, "work folder").ShowDefault();
  take.Add("--all", &accept.all, "accept every job that has a library");

  if (const auto code = flags.Parse(argc, argv, "report 6")) return *code;
  if (nightly.given()) return hone::command::RunVerdict(night);
  if (take.given()) return hone::command::RunAccept(accept);
  if (const auto code = flags.Require({"--bench", "--tasks", "--best", "--records", "--out"})) return *code;
  return hone::command::RunReport(options);
}
