// hone-records: what a record file holds, for people and for other programs. Changes no file it is given; merge
// and export write others. command/records/foreign_records.h has what it does with records of other tuners.
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
// Prints a line for each job of these work folders or folders of records: how far it is, and how long it will take
// (command/records/work_status.h). Opens no record file and takes no lock. Names files that it cannot read; returns 1
// then, except with `watch`.
int ShowStatus(const RecordsOptions& options);
int ExportRecords(const RecordsOptions& options);
// Merges the files into those of the folder options.out, a file a task (record/merge.h): several tasks at a time, each
// under the lock of its output. A line a task on stderr. One that cannot be merged is named and the others are.
int MergeRecordFiles(const RecordsOptions& options);
int VerifyRecordFiles(const RecordsOptions& options);

}  // namespace hone::command
