// hone-records: shows the contents of a record file to people and other programs. Does not change its input files,
// except that salvage replaces a damaged one and forget removes trials; merge and export write other files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::command {

struct RecordsOptions {
  std::vector<std::string> files;  // record files; a folder means all *.db in it
  int64_t limit = 20;              // list: trials of each file, fastest first; 0: all
  int64_t trial = -1;              // show: trial number; -1: the best
  std::string format = "jsonl";    // export: jsonl, csv, autotvm, ansor or t4
  std::string out;                 // export: file to write; empty: stdout. merge, distill: folder. learn: file
  int best = 6;                    // distill: trials of each task; the default is hone-pick-best's number of finalists
  bool watch = false;              // status: repeats every second until interrupted
};

// The record files for the arguments.
Result<std::vector<std::string>> ExpandRecordFiles(const std::vector<std::string>& paths);
// The worst of the exit codes for these files; after kInterrupted, it leaves out the others.
int ForEachRecordFile(const std::vector<std::string>& paths, const std::function<int(const std::string& path)>& run);

// Each returns the exit code: 0 done (verify: no problem found), 1 failed or a problem found, 2 misused.
int ListRecords(const RecordsOptions& options);  // a line per trial, after a summary of states and errors
int ShowRecord(const RecordsOptions& options);   // one trial with all its data
// Prints how many tasks of each network of these work folders (or folders of records) are in each state, and a line for
// each task that has begun: its progress and remaining time. Reads only progress files, task lists and stamps, so it
// works from any machine that sees the folder: opens no record file, takes no lock and writes nothing. Names files that
// it cannot read, and then returns 1, except with `watch`.
int ShowStatus(const RecordsOptions& options);
int ExportRecords(const RecordsOptions& options);
// Merges the files into those of the folder options.out, one file per task (record/merge.h): several tasks at a time,
// each under the lock of its output. Prints a line per task to stderr. If a task cannot be merged, names it and merges
// the others.
int MergeRecordFiles(const RecordsOptions& options);
// Writes the best trials of each task into new files (record/distill.h), enough for hone-pick-best and hone-build: what
// the former would take with options.best finalists, for each machine and any limit on numerics. Several tasks at a time,
// each under the lock of its output. Does not touch a file that is there already. Prints a line per task to stderr.
// Returns the worst exit code: 1 also if a task has no correct trial and was left out.
int DistillRecordFiles(const RecordsOptions& options);
// Writes a model of the files' trials (session/saved_model.h) to options.out and prints what it contains.
int LearnFromRecords(const RecordsOptions& options);
// A line per problem, else "FILE: ok". Failures that look like the machine's fault (record/suspicious.h) are warnings
// in lines before that one, with the forget command that removes them; the exit code does not depend on them.
int VerifyRecordFiles(const RecordsOptions& options);

struct ForgetOptions {
  std::vector<std::string> files;  // as in RecordsOptions
  std::string error;               // the trials' error: compile, timeout, ..
  std::string since;               // when they were recorded, as of ParseTime (base/clock.h); empty: at any time
  bool dry_run = false;            // only prints what would be removed; takes no lock
};

// Removes failed trials (record/forget.h), so that the next hone-tune tries their candidates again, and the stamps that
// say that the task is tuned. Takes each file's lock, as a tuner does. Prints a line per file. Returns the exit code:
// that of the worst file; the others are processed. An interrupt stops it between two files.
int ForgetTrials(const ForgetOptions& options);

struct ExplainOptions {
  std::string best;     // best/NET.TARGET.json, .confirmed.json or .choice.json
  std::string records;  // folder of the target's records; empty: ../records/TARGET, relative to the best file
  bool json = false;    // for programs: {"version": 1, "network", "target", "tasks": [..], "alternatives": [..], ..}
};

// Prints to stdout for each task: the configuration, why it was taken (tuned, from the same computation with another
// epilogue, or the template's default), its time alone and in the network, the trial, date, machine and versions, and
// its rivals: the next best kernels of the same machine, how much slower they were, and whether the samples leave a
// doubt (the 95 % intervals of the medians overlap). For the network: alternatives and shared memory, with their
// measurements. Without records, the rivals are those in the best file. Returns the exit code.
int ExplainBest(const ExplainOptions& options);

// Writes the whole trials of `file` to `out`, and prints what is lost. Without `out`, writes beside `file` and renames
// it to FILE.damaged, so that tuning continues with the rest; holds the job's lock meanwhile. Returns the exit code: 0
// even if trials are lost.
int SalvageFile(const std::string& file, const std::string& out);

struct ImportOptions {
  std::string format = "autotvm";  // or ansor, t4
  std::string file, db;
};

// Exit codes: 0 all records read, except perhaps a torn last line; 1 others were left out, each named on stderr; 2
// misuse, or the file contains no record.
int ImportRecords(const ImportOptions& options);
// Compares the best times of two files of foreign records, for tasks that both contain for the same target.
int CompareRecords(const std::string& a, const std::string& b);

// hone-records list, show, export and verify for files of foreign records (record/foreign_store.h).

Status ListForeign(const std::string& path, int64_t limit);  // a line per task, at most `limit` (0: all)
Status ShowForeign(const std::string& path, int64_t number);
// The records in that format; says on stderr how many others there are.
Result<std::string> ExportForeign(const std::string& path, const std::string& format);
Result<std::vector<std::string>> VerifyForeign(const std::string& path);

}  // namespace hone::command
