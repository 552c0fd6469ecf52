// hone-report: writes report.md, report.json, junit.xml and index.html about one tuned network.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/log.h"
#include "command/report.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-report");
  hone::command::ReportOptions options;
  CLI::App app("Reports what was tuned, what came of it and what it cost.", "hone-report");
  app.add_option("--bench", options.bench, "result of hone-bench (bench/NET.TARGET.json)")->required();
  app.add_option("--tasks", options.tasks, "task list of the network (tasks/NET.TARGET.tasks.json)")->required();
  app.add_option("--best", options.best, "choices of hone-pick-best (best/NET.TARGET.json)")->required();
  app.add_option("--records", options.records, "folder of the record files (TASKID.db)")->required();
  app.add_option("--out", options.out, "folder for the four files; each is left alone if nothing in it changes")
      ->required();
  if (const auto code = hone::ParseFlags(&app, argc, argv, "report 2")) return *code;
  return hone::command::RunReport(options);
}
