// hone-records: what a record file holds, for people and for other programs. Changes no file it is given; merge
// and export write others, salvage replaces a damaged one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::command {

struct RecordsOptions {
  std::vector<std::string> files;  // record files; a folder stands for all *.db in it
  int64_t limit = 20;              // list: trials of each file, fastest first; 0: all
  int64_t trial = -1;              // show: which one; -1: the best
  std::string format = "jsonl";    // export: jsonl, csv, autotvm or t4
  std::string out;                 // export: file to write; empty: stdout. merge: folder
  bool watch = false;              // status: again every second, until interrupted
};

// The record files that the arguments name.
Result<std::vector<std::string>> ExpandRecordFiles(const std::vector<std::string>& paths);

// Each returns the exit code: 0 done (verify: all is well), 1 failed or something was found, 2 misused.
int ListRecords(const RecordsOptions& options);  // a line a trial, after a summary of states and errors
int ShowRecord(const RecordsOptions& options);   // one trial with everything that is known of it
// Prints a line for each job of these work folders or folders of records: how far it is, and how long it will take.
// From their files alone, so that it works from any machine that sees the folder: opens no record file, takes no lock
// and writes nothing. Names files that it cannot read; returns 1 then, except with `watch`.
int ShowStatus(const RecordsOptions& options);
int ExportRecords(const RecordsOptions& options);
// Merges the files into those of the folder options.out, a file a task (record/merge.h): several tasks at a time, each
// under the lock of its output. A line a task on stderr. One that cannot be merged is named and the others are.
int MergeRecordFiles(const RecordsOptions& options);
int VerifyRecordFiles(const RecordsOptions& options);

struct ExplainOptions {
  std::string best;     // best/NET.TARGET.json, .confirmed.json or .choice.json
  std::string records;  // folder of the target's records; empty: ../records/TARGET beside the best file
  bool json = false;    // for programs: {"version": 1, "network", "target", "tasks": [..], "alternatives": [..], ..}
};

// For each task: the configuration, why it was taken (tuned, of the same computation with another epilogue, the
// template's default), its time alone and in the network, the trial, when, on which machine, by which versions, and its
// rivals: the next best kernels of the same machine, how much slower they were, and whether the samples leave a doubt
// about it (the 95 % intervals of the medians overlap). For the network: alternatives and shared memory, with what was
// timed for them. Without records the rivals are those that the best file itself names. To stdout; the exit code.
int ExplainBest(const ExplainOptions& options);

// Writes the whole trials of `file` to `out`, and prints what is lost. Without `out`: beside `file`, which is then
// renamed to FILE.damaged, so that tuning continues with the rest; the job's lock is held meanwhile. Returns the exit
// code: 0 also if trials are lost.
int SalvageFile(const std::string& file, const std::string& out);

struct ImportOptions {
  std::string format = "autotvm";  // or t4
  std::string file, db;
};

// Exit codes: 0 all records read, or all but a torn last line; 1 others were left out, each named on stderr; 2 misuse,
// or nothing in the file was a record.
int ImportRecords(const ImportOptions& options);
// The best times of two files of foreign records, for each task that both have for the same target.
int CompareRecords(const std::string& a, const std::string& b);

}  // namespace hone::command
