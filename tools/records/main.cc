// hone-records: lists, shows, explains, exports, merges and repairs record files; imports those of other tuners.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "command/records/records.h"

int main(int argc, char** argv) {
  using namespace hone::command;
  hone::SetLogName("hone-records");
  RecordsOptions options;
  ImportOptions import;
  ExplainOptions explained;
  std::string best_file, other;
  CLI::App app("Shows and maintains record files. A folder stands for all *.db files in it.", "hone-records");
  app.require_subcommand(1);

  CLI::App* list = app.add_subcommand("list", "list the trials of each file, fastest first");
  list->add_option("files", options.files, "record files or folders")->required();
  list->add_option("--limit", options.limit, "number of trials of each file (0: all)")->capture_default_str();

  CLI::App* show = app.add_subcommand("show", "show everything about one trial");
  show->add_option("file", options.files, "record file")->required()->expected(1);
  show->add_option("--trial", options.trial, "number of the trial (default: the best)");

  CLI::App* explain = app.add_subcommand("explain", "explain where each choice of best/NET.TARGET.json comes from");
  explain->add_option("best", explained.best, "file written by hone-pick-best or hone-confirm")->required();
  explain->add_option("--records", explained.records,
                      "folder of the target's records (default: ../records/TARGET beside it)");
  explain->add_flag("--json", explained.json, "print JSON");

  CLI::App* dump = app.add_subcommand("export", "write all trials as text for other programs");
  dump->add_option("files,--db", options.files, "record files or folders");  // one of the two names
  dump->add_option("--format", options.format, "jsonl, csv, autotvm or t4")->capture_default_str();
  dump->add_option("--out", options.out, "file to write (default: stdout)");

  CLI::App* load = app.add_subcommand("import", "import another tuner's records into a separate file");
  load->add_option("file", import.file, "log to import")->required();
  load->add_option("--db", import.db, "file of foreign records to create or extend")->required();
  load->add_option("--format", import.format, "autotvm or t4")->capture_default_str();

  CLI::App* compare = app.add_subcommand("compare", "compare the best times of two files of foreign records");
  compare->add_option("a", best_file, "file written by import")->required();
  compare->add_option("b", other, "another one")->required();

  CLI::App* status = app.add_subcommand("status", "show how far each tuning job is, and the time left");
  status->add_option("folders", options.files, "work folders, or folders of record files")->required();
  status->add_flag("--watch", options.watch, "repeat every second until interrupted");

  CLI::App* merge = app.add_subcommand("merge", "merge records of several machines or work folders into one folder");
  merge->add_option("files", options.files, "record files or folders; only read")->required();
  merge->add_option("--out", options.out, "folder of the merged records, created or extended")->required();

  std::string damaged, saved;
  CLI::App* salvage = app.add_subcommand("salvage", "write what is whole in a damaged record file into a new one");
  salvage->add_option("file", damaged, "record file")->required();
  salvage->add_option("--out", saved, "file to write (default: replace the damaged one, which is kept)");

  CLI::App* verify = app.add_subcommand("verify", "check that files are complete and consistent");
  verify->add_option("files", options.files, "record files or folders")->required();

  if (const auto code = hone::ParseFlags(&app, argc, argv, "records 1")) return *code;
  if (load->parsed() || merge->parsed() || status->parsed()) hone::InstallInterruptHandlers();
  if (list->parsed()) return ListRecords(options);
  if (show->parsed()) return ShowRecord(options);
  if (explain->parsed()) return ExplainBest(explained);
  if (compare->parsed()) return CompareRecords(best_file, other);
  if (load->parsed()) return ImportRecords(import);
  if (salvage->parsed()) return SalvageFile(damaged, saved);
  if (status->parsed()) return ShowStatus(options);
  if (merge->parsed()) return MergeRecordFiles(options);
  if (dump->parsed()) return ExportRecords(options);
  return VerifyRecordFiles(options);
}
