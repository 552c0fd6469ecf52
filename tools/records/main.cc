// hone-records: shows, explains, exports, merges, checks and repairs record files; imports those of other tuners.
#include "base/flags.h"
#include "base/interrupt.h"
#include "command/records/records.h"

int main(int argc, char** argv) {
  using namespace hone::command;
  RecordsOptions options;
  ImportOptions import;
  ExplainOptions explained;
  ForgetOptions forgotten;
  std::string best_file, other, damaged, saved;
  hone::Flags flags("hone-records", "Shows and maintains record files. A folder stands for all *.db files in it.");
  flags.RequireCommand();

  hone::Flags& list = flags.AddCommand("list", "list the trials of each file, fastest first");
  list.Add("files", &options.files, "record files or folders").Required();
  list.Add("--limit", &options.limit, "number of trials of each file (0: all)").ShowDefault();
  hone::Flags& show = flags.AddCommand("show", "show everything about one trial");
  show.Add("file", &options.files, "record file").Required().Once();
  show.Add("--trial", &options.trial, "number of the trial (default: the best)");
  hone::Flags& explain = flags.AddCommand("explain", "explain where each choice of best/NET.TARGET.json comes from");
  explain.Add("best", &explained.best, "file written by hone-pick-best or hone-confirm").Required();
  explain.Add("--records", &explained.records, "folder of the target's records (default: ../records/TARGET beside it)");
  explain.Add("--json", &explained.json, "print JSON");
  hone::Flags& dump = flags.AddCommand("export", "write all trials as text for other programs");
  dump.Add("files,--db", &options.files, "record files or folders");  // one of the two names
  dump.Add("--format", &options.format, "jsonl, csv, autotvm, ansor or t4").ShowDefault();
  dump.Add("--out", &options.out, "file to write (default: stdout)");
  hone::Flags& load = flags.AddCommand("import", "import another tuner's records into a separate file");
  load.Add("file", &import.file, "log to import").Required();
  load.Add("--db", &import.db, "file of foreign records to create or extend").Required();
  load.Add("--format", &import.format, "autotvm, ansor or t4").ShowDefault();
  hone::Flags& compare = flags.AddCommand("compare", "compare the best times of two files of foreign records");
  compare.Add("a", &best_file, "file written by import").Required();
  compare.Add("b", &other, "another one").Required();
  hone::Flags& status = flags.AddCommand("status", "show how far each network and each task is, and the time left");
  status.Add("folders", &options.files, "work folders, or folders of record files").Required();
  status.Add("--watch", &options.watch, "repeat every second until interrupted");

  hone::Flags& merge = flags.AddCommand("merge", "merge records of several machines or work folders into one folder");
  merge.Add("files", &options.files, "record files or folders; only read").Required();
  merge.Add("--out", &options.out, "folder of the merged records, created or extended").Required();
  hone::Flags& distill = flags.AddCommand("distill", "write the best trials of each task into new files");
  distill.Add("files", &options.files, "record files or folders; only read").Required();
  distill.Add("--out", &options.out, "folder to write; files that are there are refused").Required();
  distill.Add("--best", &options.best, "trials of each task").ShowDefault();
  hone::Flags& learn = flags.AddCommand("learn", "write a model of a device, from which later tuning starts");
  learn.Add("files", &options.files, "record files or folders of one target; only read").Required();
  learn.Add("--out", &options.out, "model file to write, for [tune] model").Required();
  hone::Flags& salvage = flags.AddCommand("salvage", "write what is whole in a damaged record file into a new one");
  salvage.Add("file", &damaged, "record file").Required();
  salvage.Add("--out", &saved, "file to write (default: replace the damaged one, which is kept)");
  hone::Flags& verify = flags.AddCommand("verify", "check files, and warn of failures that may be the machine's fault");
  verify.Add("files", &options.files, "record files or folders").Required();
  hone::Flags& forget = flags.AddCommand("forget", "remove failed trials, so that hone-tune tries them again");
  forget.Add("files", &forgotten.files, "record files or folders").Required();
  forget.Add("--error", &forgotten.error, "invalid, compile, timeout, crash, wrong or device").Required();
  forget.Add("--since", &forgotten.since, "only those of sessions that still ran then: 2026-11-26T14:00 (UTC), 2h, 3d");
  forget.Add("--dry-run", &forgotten.dry_run, "only print what would be removed");

  if (const auto code = flags.Parse(argc, argv, "records 1")) return *code;
  if (load.given() || merge.given() || distill.given() || status.given() || forget.given()) {
    hone::InstallInterruptHandlers();
  }
  if (list.given()) return ListRecords(options);
  if (show.given()) return ShowRecord(options);
  if (explain.given()) return ExplainBest(explained);
  if (compare.given()) return CompareRecords(best_file, other);
  if (load.given()) return ImportRecords(import);
  if (salvage.given()) return SalvageFile(damaged, saved);
  if (status.given()) return ShowStatus(options);
  if (merge.given()) return MergeRecordFiles(options);
  if (distill.given()) return DistillRecordFiles(options);
  if (learn.given()) return LearnFromRecords(options);
  if (dump.given()) return ExportRecords(options);
  if (forget.given()) return ForgetTrials(forgotten);
  return VerifyRecordFiles(options);
}
