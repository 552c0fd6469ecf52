// hone-report: writes report.md, report.json, junit.xml and index.html about a tuned network, index.html and junit.xml
// about a nightly run; accepts the references of nightly runs.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/log.h"
#include "command/report/report.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-report");
  hone::command::ReportOptions options;
  hone::command::VerdictOptions night;
  hone::command::AcceptOptions accept;
  CLI::App app("Reports on a tuned network or a nightly run.", "hone-report");
  app.add_option("--bench", options.bench, "result of hone-bench (bench/NET.TARGET.json)");
  app.add_option("--tasks", options.tasks, "task list of the network (tasks/NET.TARGET.tasks.json)");
  app.add_option("--best", options.best, "choices of hone-pick-best (best/NET.TARGET.json)");
  app.add_option("--records", options.records, "folder of the record files (TASKID.db)");
  app.add_option("--out", options.out, "folder for the four files; an unchanged one is not touched");

  CLI::App* nightly =
      app.add_subcommand("nightly", "report on the last nightly run; exit code 0 fine, 1 slower, 3 nothing usable");
  nightly->add_option("--nights", night.folders.nights, "folder of the histories")->capture_default_str();
  nightly->add_option("--accepted", night.folders.accepted, "folder of the references")->capture_default_str();
  nightly->add_option("--series", night.folders.series, "main or replay")
      ->check(CLI::IsMember({"main", "replay"}))
      ->capture_default_str();
  nightly->add_flag("--close", night.close, "end this run: the next measurement starts another");
  nightly->add_option("--out", night.folders.out, "folder for the page; without it only the verdict is printed");

  CLI::App* take = app.add_subcommand("accept", "accept a job's library as the reference of nightly runs");
  take->add_option("jobs", accept.jobs, "jobs, NET.TARGET each");
  take->add_option("--reason", accept.reason, "reason, kept in the history")->required();
  take->add_option("--work", accept.work, "work folder")->capture_default_str();
  take->add_flag("--all", accept.all, "accept every job that has a library");

  if (const auto code = hone::ParseFlags(&app, argc, argv, "report 3")) return *code;
  if (nightly->parsed()) return hone::command::RunVerdict(night);
  if (take->parsed()) return hone::command::RunAccept(accept);
  if (const auto code = hone::RequireFlags(app, {"--bench", "--tasks", "--best", "--records", "--out"})) return *code;
  return hone::command::RunReport(options);
}
