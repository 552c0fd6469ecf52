// A temporary work folder with one small convolution to tune, and hone-tune to run in it.
#pragma once

#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/json.h"
#include "record/store.h"
#include "test_folder.h"

namespace hone {

// Simulated times from seed 7 instead of measured ones.
inline const Words kFake = {"--fake-measure", "7"};

class TuneFolder : public TestFolder {
 protected:
  // t.json, a convolution; s.json: 40 random trials.
  void SetUp() override;

  // Settings with that many trials; `more` has further keys: ", \"early_stop\": 5".
  void WriteSettings(int trials, const std::string& more = "");
  void WriteTask(const std::string& workload, const std::string& target = "");  // empty target: this machine

  static constexpr const char* kDb = "records/t.db";
  static constexpr const char* kStamp = "stamps/t.done";
  static constexpr const char* kProgress = "records/t.progress.json";

  // hone-tune with --task --settings --db --stamp, and `more`.
  Words Command(const Words& more) const;
  CommandResult Tune(const Words& more) { return Run(Command(more)); }
  // Runs it and expects success.
  CommandResult TuneOk(const Words& more);
  // Runs with these arguments and only the task.
  CommandResult TuneTask(const Words& arguments) { return Run(Words{HONE_TUNE, "--task", "t.json"} + arguments); }
  // Expects an error in one line, and no stamp.
  void ExpectMisused(const CommandResult& result, const std::string& words);

  std::vector<record::Trial> Trials() const;  // empty without records
  std::vector<uint64_t> Indices() const;
  std::string StampText() const { return Has(kStamp) ? Read(kStamp) : ""; }
  Json Stamp() const { return ReadJson(kStamp); }
  // Removes trials, stamp and records; keeps the job's input files.
  void Reset();
  // Waits until the process has tried something or ended.
  void WaitForProgress(Subprocess* process) const;
};

// Children of a process whose command line contains `word`.
std::vector<pid_t> ChildrenOf(pid_t parent, const std::string& word);

}  // namespace hone
